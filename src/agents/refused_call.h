// A tool call that a hook has denied before it was made: what hosts tell the model instead of its result.
#pragma once

#include <string_view>

namespace ralph {

// `output` is that of a call that failed.
bool is_denied_by_hook(std::string_view output);

}  // namespace ralph
