#include "base/wildcard.h"

namespace ralph {

bool matches_wildcard(std::string_view pattern, std::string_view text, bool sets) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    size_t width = 1;
    bool one = false;
    if (sets && p < pattern.size() && pattern[p] == '[') {
      const size_t close = pattern.find(']', p + 2);
      if (close != std::string_view::npos) {
        const bool negated = pattern[p + 1] == '!' || pattern[p + 1] == '^';
        for (size_t i = p + (negated ? 2 : 1); i < close; ++i) {
          if (i + 2 < close && pattern[i + 1] == '-') {
            one |= pattern[i] <= text[t] && text[t] <= pattern[i + 2];
            i += 2;
          } else {
            one |= pattern[i] == text[t];
          }
        }
        one = one != negated;
        width = close - p + 1;
      }
    }
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (one || pattern[p] == '?' || pattern[p] == text[t])) {
      p += width;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace ralph
