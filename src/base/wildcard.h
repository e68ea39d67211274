// File name patterns as a shell reads them.
#pragma once

#include <string_view>

namespace ralph {

// * matches any characters, ? one. With `sets`, [a-z] and [!a-z] match one too. For a pattern with k stars, it takes at
// most k times the length of the text.
bool matches_wildcard(std::string_view pattern, std::string_view text, bool sets = false);

}  // namespace ralph
