// The processes that this one was started by, directly or not.
#pragma once

#include <string_view>

namespace ralph {

// Whether a process above this one is called `program`, or as this one is, or has a variable of this name in its
// environment as far as that may be read. An orphan counts with the process that has adopted it: below a subreaper
// that is still one above.
bool is_below(std::string_view program, std::string_view variable);

}  // namespace ralph
