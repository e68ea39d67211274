// What a review is told about the checks that its story changed: tests, the files that checks depend on, tests that are
// skipped now, assertions that are gone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "git/git.h"
#include "plan/assignment.h"

namespace ralph {

// Whether a check depends on the file by its name, whatever its command says: Makefile, package.json, conftest.py, …
bool is_check_file(std::string_view path);

// What the lines of a difference say about one file, in words: "skips or narrows tests: 2 lines". May be empty.
std::string signs_in(std::string_view difference);

// Adds what differs from the commit `base`. `top` is the work tree's folder; `commands` are those of the checks.
void tell_changed_checks(Assignment& assignment, const Git& git, const std::string& top, const std::string& base,
                         const std::vector<std::string>& commands);

}  // namespace ralph
