// Which files a command names on its standard output: `find`, `fd`, `ls`, `git ls-files` and the like, also through
// filters (`find / | head -5`). The printed names are unknown, but their location often is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/shell/lexer.h"

namespace ralph {

struct Listing {
  // Written like operands of `rm`: a folder listed as a whole, "folder/*", or a folder with an unknown part below it,
  // if something selects files.
  std::vector<std::string> paths{};
  bool is_anything = false;       // it comes from a file, or from a program that can print anything
  bool begins_with_dots = false;  // "." and ".." are its first lines
};

// The files that the commands of the span print; nullopt if the output is not a list of files.
std::optional<Listing> listing_of(const ShellReading& reading, ShellSpan span);

// The files that the command reads from its standard input.
std::optional<Listing> listing_for(const ShellReading& reading, const ShellCommand& command);

// The paths that a `find` acts on: its starting points, each with an unknown part below it if a test selects files.
std::vector<std::string> found_by(const ShellCommand& find);
// The same for `fd`, whose options -x and -X run a command for them.
std::vector<std::string> found_by_fd(const ShellCommand& fd);

}  // namespace ralph
