// What a command prints, where that can be read off the line: echo, printf, a here-document through cat, and what the
// usual disguises make of it (base64 -d, xxd -r -p, rev, tr).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/shell/lexer.h"

namespace ralph {

// Of all commands of a span that print to its end. kUnknownPart stands for parts that are not known; nothing if there
// is no more to say than that.
std::optional<std::string> known_output(const ShellReading& reading, ShellSpan span);

// What a command reads on standard input.
std::optional<std::string> known_input(const ShellReading& reading, const ShellCommand& command);

// Backslash escapes as in $'..' and echo -e.
std::string with_escapes(std::string_view text);

}  // namespace ralph
