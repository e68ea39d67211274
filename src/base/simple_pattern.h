// The subset of regular expressions that schemas need, in constant memory and stack. (std::regex recurses once per
// character, so a long string in a user's file would crash the program.)
#pragma once

#include <string_view>

#include "base/result.h"

namespace ralph {

// Whether `pattern` matches somewhere in `text`. Supported: ^ at its start, $ at its end, plain characters, '.', \s \S
// \d \w, an escaped character such as \., sets such as [A-Za-z_] and [^ ], and * + ? after any of them. Anything else,
// such as ( | {, fails with kInternal. Works on bytes.
Result<bool> matches_pattern(std::string_view text, std::string_view pattern);

}  // namespace ralph
