// JSON that is nearly right, as agents are known to print it, made right.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

// Lone surrogates (half of an emoji that was cut: "\ud83d") and bytes that are no UTF-8 become U+FFFD, raw control
// characters and unknown escapes in strings are escaped, numbers that no double can hold become the largest that one
// can. What is wrong in other ways stays wrong.
std::string repair_json(std::string_view text);

}  // namespace ralph
