// Messages to people that are not a command's output: notes, questions about trust, findings. They go to standard
// error, can't move the cursor, and wrap between words on a terminal. They never end the command, not even if standard
// error can't be written (fmt::print throws there).
#pragma once

#include <string>
#include <string_view>

namespace ralph::cli {

// Whole lines, each with its line end.
void tell(std::string_view lines);

// Wraps a line at blanks; continuation lines are indented by two more columns than the first. Only the blanks at the
// breaks are changed, so that a command is shown as it will run.
std::string wrap_line(std::string_view line, size_t columns);

}  // namespace ralph::cli
