// Repositories inside a work tree. To see whether they have changed, `git add` and `git commit` run git in them, and
// that git follows their own configuration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ralph {

// The programs that git would run in repositories below `top`, which is the work tree of the repository in
// `common_dir`: "vendor/x/.git/config (core.fsmonitor)", "vendor/x/.git/hooks/pre-commit". Ignored repositories, and
// submodules whose repository is in `common_dir`, are left out.
Result<std::vector<std::string>> programs_of_nested(const std::string& top, const std::string& common_dir);

}  // namespace ralph
