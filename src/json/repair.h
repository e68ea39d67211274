// Repairs the almost valid JSON that agents are known to print.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

// Lone surrogates (half of a cut emoji: "\ud83d") and invalid UTF-8 become U+FFFD, raw control characters and unknown
// escapes in strings are escaped, numbers too large for a double become the largest double. Other faults stay.
std::string repair_json(std::string_view text);

}  // namespace ralph
