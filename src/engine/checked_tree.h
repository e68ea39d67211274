// The files of the project as they were when they were checked. Afterwards programs still run: an agent that is asked
// for a commit message, hooks of the source control. What they change, nobody has checked.
#pragma once

#include <optional>
#include <string>

#include "engine/step.h"
#include "engine/scm_argv.h"
#include "settings/settings.h"

namespace ralph {

class CheckedTree {
 public:
  CheckedTree(RunContext& context, const ScmSettings& scm) : context_(context), scm_(scm) {}

  Status remember();  // the files as they are now

  // Whether they are others than those that were remembered; a commit of them alone is no change. Nothing: that can't
  // be known, because the source control is not git, or has no commit yet. Files that git ignores are not looked at.
  Result<std::optional<bool>> changed();

 private:
  Result<std::optional<std::string>> ask(const Argv& words);
  Result<std::optional<std::string>> look();

  RunContext& context_;
  const ScmSettings& scm_;
  std::string base_, top_;  // the commit to compare with, and the work tree's uppermost folder
  std::optional<std::string> seen_;
};

}  // namespace ralph
