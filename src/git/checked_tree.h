// Detects changes to a project's files after they were checked. Programs still run then: an agent that is asked for a
// commit message, source control hooks. Their changes are unchecked.
#pragma once

#include <optional>
#include <string>

#include "git/git.h"

namespace ralph {

class CheckedTree {
 public:
  // Ignores everything below `left_out`: ralph's own journal keeps growing.
  CheckedTree(Git git, std::string left_out) : git_(std::move(git)), left_out_(std::move(left_out)) {}

  Status remember();  // the current files

  // Whether the files differ from the remembered ones; committing them is not a change. nullopt: unknown, because there
  // is no repository or no commit yet. Files that git ignores are not compared.
  Result<std::optional<bool>> changed();

 private:
  Result<std::optional<std::string>> ask(const std::vector<std::string>& words);
  Result<std::optional<std::string>> look();

  Git git_;
  std::string left_out_;
  std::string base_, top_;  // the commit to compare with, and the work tree's top-level folder
  std::optional<std::string> seen_;
};

}  // namespace ralph
