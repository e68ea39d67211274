// Describes a tool call as text: its subject in a few words ("Read(/path/to/file.go)" is a name and a summary), and its
// content.
#pragma once

#include <string>
#include <string_view>

#include "json/view.h"
#include "json/wanted.h"

namespace ralph {

// The members of a tool's input that a summary and a todo list need.
const Wanted& wanted_of_tool_input();

// A view into the input, or into `scratch`.
std::string_view summary_of_input(JsonView input, std::string& scratch);

// `/bin/bash -lc 'ls -la'` becomes `ls -la`, in `scratch`. Any other command is returned unchanged.
std::string_view command_without_shell(std::string_view command, std::string& scratch);

// The text of `content`, a string or a list of blocks: a view into it, or into `scratch`.
std::string_view text_of_content(JsonView content, std::string& scratch);

}  // namespace ralph
