// Path patterns within a project: "tests/**", "*.cmake", "Makefile".
#pragma once

#include <string_view>

namespace ralph {

// * and ? match characters of one name, ** any number of folders. A pattern that names a folder matches everything in
// it. Patterns are relative to the project: "Makefile" is the one at the top, "**/Makefile" is any. Uses linear memory
// and, for a pattern with k stars, at most k times the length of the path in time.
bool matches_path(std::string_view pattern, std::string_view path);

// The folder or file that contains everything the pattern matches: "tests/unit" for "tests/unit/**/*.py". Empty: the
// project.
std::string_view literal_part(std::string_view pattern);

}  // namespace ralph
