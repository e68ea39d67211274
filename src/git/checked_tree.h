// The files of a project as they were when they were checked. Afterwards programs still run: an agent that is asked for
// a commit message, hooks of the source control. What they change, nobody has checked.
#pragma once

#include <optional>
#include <string>

#include "git/git.h"

namespace ralph {

class CheckedTree {
 public:
  // What lies below `left_out` does not count: ralph's own journal grows meanwhile.
  CheckedTree(Git git, std::string left_out) : git_(std::move(git)), left_out_(std::move(left_out)) {}

  Status remember();  // the files as they are now

  // Whether they are others than those that were remembered; a commit of them alone is no change. Nothing: that can't
  // be known, because there is no repository, or no commit yet. Files that git ignores are not looked at.
  Result<std::optional<bool>> changed();

 private:
  Result<std::optional<std::string>> ask(const std::vector<std::string>& words);
  Result<std::optional<std::string>> look();

  Git git_;
  std::string left_out_;
  std::string base_, top_;  // the commit to compare with, and the work tree's uppermost folder
  std::optional<std::string> seen_;
};

}  // namespace ralph
