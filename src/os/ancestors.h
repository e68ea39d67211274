// The chain of processes that started this one.
#pragma once

#include <string_view>

namespace ralph {

// Whether an ancestor of this process is called `program`, has this process's own name, or has `variable` in its
// environment (if that is readable). For an orphan the chain continues at the process that adopted it, which may be a
// subreaper that is an ancestor anyway.
bool is_below(std::string_view program, std::string_view variable);

}  // namespace ralph
