// The project files that a check's command depends on by name: the scripts it starts, and the files that tell its
// programs what to do. A change to one of them may change what the check proves.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

// Paths relative to the project, in order, without duplicates. `is_file` tells whether a file of that name exists.
// "make test" names the Makefile, "npm test" package.json, "pytest" conftest.py, "sh ci/check.sh" that script. The
// files that a script or Makefile uses in turn are not followed.
std::vector<std::string> files_named_by(std::string_view command,
                                        const std::function<bool(const std::string&)>& is_file);

// The same for the files that its programs read by themselves, whether they exist or not: make prefers a new
// GNUmakefile to the Makefile.
std::vector<std::string> files_read_by_programs_of(std::string_view command);

}  // namespace ralph
