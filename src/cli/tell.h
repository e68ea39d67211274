// What a command tells a person beside its output: notes, questions about trust, what was found. It goes to standard
// error, can't move the cursor, breaks between words on a terminal, and never ends the command, not even where standard
// error can't be written (fmt::print throws there).
#pragma once

#include <string>
#include <string_view>

namespace ralph::cli {

// Whole lines, each with its line end.
void tell(std::string_view lines);

// A line that is too wide, broken at blanks; the other lines are indented by two columns more than the first. Nothing
// but the blank at a break is changed, so that a command is shown as it will run.
std::string broken_between_words(std::string_view line, size_t columns);

}  // namespace ralph::cli
