// Patterns of paths in a project: "tests/**", "*.cmake", "Makefile".
#pragma once

#include <string_view>

namespace ralph {

// * and ? stand for characters of one name, ** for any number of folders. A pattern that names a folder stands for all
// that is in it. Patterns begin at the project: "Makefile" is the one at its top, "**/Makefile" is any. In linear
// memory and, for a pattern with k stars, in at most k times the length of the path.
bool matches_path(std::string_view pattern, std::string_view path);

// The folder, or file, that everything it matches is in: "tests/unit" of "tests/unit/**/*.py". Empty: the project.
std::string_view literal_part(std::string_view pattern);

}  // namespace ralph
