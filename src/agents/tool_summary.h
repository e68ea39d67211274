// What a tool works on, in a few words: "Read(/path/to/file.go)" is its name and its summary.
#pragma once

#include <string>
#include <string_view>

#include "json/view.h"
#include "json/wanted.h"

namespace ralph {

// What a parser has to keep of a tool's input for a summary and a todo list.
const Wanted& wanted_of_tool_input();

// A view into the input, or into `scratch`.
std::string_view summary_of_input(JsonView input, std::string& scratch);

// `/bin/bash -lc 'ls -la'` is `ls -la`: the command that was meant, in `scratch`. Any other command as it is.
std::string_view command_without_shell(std::string_view command, std::string& scratch);

}  // namespace ralph
