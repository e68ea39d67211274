// Lets tests spell enums as in a journal: EXPECT_EQ(ended.outcome, "timed_out").
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "journal/words.h"

namespace ralph {

template <Worded E>
bool operator==(E value, std::string_view word) {
  return to_string(value) == word;
}
template <Worded E>
bool operator==(const std::vector<E>& values, const std::vector<std::string>& words) {
  return std::equal(values.begin(), values.end(), words.begin(), words.end());
}
template <Worded E>
std::ostream& operator<<(std::ostream& out, E value) {
  return out << to_string(value);
}

// ended.outcome = word("timed_out"): converts to whichever enum is needed.
struct Word {
  std::string_view text;
  template <Worded E>
  operator E() const {  // NOLINT(google-explicit-constructor)
    return from_word<E>(text).value();
  }
};
constexpr Word word(std::string_view text) {
  return {text};
}

}  // namespace ralph
