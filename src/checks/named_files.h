// The files of a project that a check's command depends on by name: scripts that it starts, and what its programs read
// to know what to do. Whoever changes one of them may have changed what the check proves.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

// Paths relative to the project, in order, each once. `is_file` tells whether there is a file of that name. "make test"
// names the Makefile, "npm test" package.json, "pytest" conftest.py, "sh ci/check.sh" that script. What a script or a
// Makefile goes on to use is not followed.
std::vector<std::string> files_named_by(std::string_view command,
                                        const std::function<bool(const std::string&)>& is_file);

// The same for what its programs read by themselves, there or not: make prefers a new GNUmakefile to the Makefile.
std::vector<std::string> files_read_by_programs_of(std::string_view command);

}  // namespace ralph
