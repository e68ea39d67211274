// What ralph itself decides of a story after an iteration: failing commands outrank any approval, and a review that
// still asks for changes at the cap ends in an approval that says so. Pure.
#pragma once

#include <string>
#include <vector>

#include "plan/enforce.h"

namespace ralph {

inline constexpr std::string_view kAutoApproved = "[AUTO-APPROVED AT CAP]";

struct ChecksEnd {
  bool passed = true;
  std::string failures{};  // what the failing ones said
};

struct Verdict {
  StoryFile file;
  std::string story;  // empty: nothing moved
  StoryStep outcome = StoryStep::kNone;
  bool changed = false;  // ralph changed the file
};

// `before` is the list from before the iteration, `now` what enforce() left of it.
Verdict settle(const StoryFile& before, const Enforcement& now, const ReviewRules& rules, const ChecksEnd& checks);

}  // namespace ralph
