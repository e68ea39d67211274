// A glance at programs that are written on the command line (`python -c`, `node -e`, a here-document for python): the
// commands that they start and the files that they delete, read or write, where those stand there as literals. This is
// a heuristic: it knows string literals and the names of calls, not the languages.
#pragma once

#include <optional>
#include <string>

#include "policy/command_view.h"

namespace ralph {

// Adds what the program of an interpreter's command would run: commands of its shell calls, and as `rm`, `cat` and
// `tee` what it does to files by itself.
void look_into_program_text(const ShellCommand& command, const std::optional<std::string>& input, InnerCommands& inner);

// The program itself, if it stands on the line.
std::optional<std::string> program_text_of(const ShellCommand& command, const std::optional<std::string>& input);

// That text without what names no call: strings and comments, where the language is known well enough.
std::string program_code_of(const ShellCommand& command, const std::string& text);

}  // namespace ralph
