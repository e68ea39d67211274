// The output of commands, if the command line reveals it: echo, printf, a here-document through cat, and common ways to
// disguise it (base64 -d, xxd -r -p, rev, tr).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/shell/lexer.h"

namespace ralph {

// The combined output of all commands of a span whose output leaves it. kUnknownPart stands for unknown parts; nullopt
// if all of it is unknown.
std::optional<std::string> known_output(const ShellReading& reading, ShellSpan span);

// The standard input of a command; nullopt if unknown.
std::optional<std::string> known_input(const ShellReading& reading, const ShellCommand& command);

// Replaces backslash escapes as in $'..' and echo -e.
std::string with_escapes(std::string_view text);

}  // namespace ralph
