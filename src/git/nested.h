// Repositories within a work tree. `git add` and `git commit` start git in them, to see whether they are changed, and
// that obeys their own configuration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ralph {

// What git would run in repositories that lie below `top`, which is the work tree of the repository in `common_dir`:
// "vendor/x/.git/config (core.fsmonitor)", "vendor/x/.git/hooks/pre-commit". Ignored ones, and submodules whose
// repository is in `common_dir`, are left out.
Result<std::vector<std::string>> programs_of_nested(const std::string& top, const std::string& common_dir);

}  // namespace ralph
