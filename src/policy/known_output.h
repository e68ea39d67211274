// The output of commands where the line reveals it: echo, printf, a here-document through cat, and common ways to
// disguise it (base64 -d, xxd -r -p, rev, tr).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/shell/lexer.h"

namespace ralph {

// Of all commands of a span whose output leaves it. kUnknownPart stands for unknown parts; nullopt if all of it is
// unknown.
std::optional<std::string> known_output(const ShellReading& reading, ShellSpan span);

// What a command reads on standard input.
std::optional<std::string> known_input(const ShellReading& reading, const ShellCommand& command);

// Backslash escapes as in $'..' and echo -e.
std::string with_escapes(std::string_view text);

}  // namespace ralph
