// Finds what a story changed about its checks, for its review: tests, files that checks depend on, newly skipped tests,
// removed assertions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "git/git.h"
#include "plan/assignment.h"

namespace ralph {

// Whether checks depend on a file of this name even if no command mentions it: Makefile, package.json, conftest.py, …
bool is_check_file(std::string_view path);

// Suspicious changes in the diff of one file, in words: "tests are skipped or singled out in 2 new lines". May be
// empty.
std::string suspicious_changes_in(std::string_view difference);

// Adds the changes since the commit `base`. `top` is the work tree's folder; `commands` are the commands of the checks.
void tell_changed_checks(Assignment& assignment, const Git& git, const std::string& top, const std::string& base,
                         const std::vector<std::string>& commands);

}  // namespace ralph
