// Examines programs written on the command line (`python -c`, `node -e`, a here-document for python): the commands that
// they start and the files that they delete, read or write, if these are literals. This is a heuristic: it knows string
// literals and the names of calls, not the languages.
#pragma once

#include <optional>
#include <string>

#include "policy/command_view.h"

namespace ralph {

// Adds what an interpreter's program would run: the commands of its shell calls, and its own file operations as `rm`,
// `cat` and `tee`.
void look_into_program_text(const ShellCommand& command, const std::optional<std::string>& input, InnerCommands& inner);

// The program's text, if it is on the command line.
std::optional<std::string> program_text_of(const ShellCommand& command, const std::optional<std::string>& input);

// That text without strings and comments, if the language is known well enough.
std::string program_code_of(const ShellCommand& command, const std::string& text);

}  // namespace ralph
