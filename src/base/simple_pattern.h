// The few regular expressions that schemas need, in memory and stack that do not grow with the text. (std::regex
// recurses once per character, so a long string in someone's file would end the program.)
#pragma once

#include <string_view>

#include "base/result.h"

namespace ralph {

// Whether `pattern` matches somewhere in `text`. It may have: ^ at its start, $ at its end, plain characters, '.',
// \s \S \d \w, an escaped character such as \., sets such as [A-Za-z_] and [^ ], and * + ? after any of them.
// Anything else of regular expressions, such as ( | {, is refused with kInternal. Works on bytes.
Result<bool> matches_pattern(std::string_view text, std::string_view pattern);

}  // namespace ralph
