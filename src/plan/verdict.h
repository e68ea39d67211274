// ralph's own decision on a story after an iteration. Failing commands and objections override any approval; a review
// that still requests changes at the cap becomes an approval marked as such. Pure.
#pragma once

#include <string>

#include "plan/enforce.h"

namespace ralph {

inline constexpr std::string_view kAutoApproved = "[AUTO-APPROVED AT CAP]";

struct ChecksEnd {
  bool passed = true;
  std::string failures{};    // the messages of the failed checks
  std::string objections{};  // why nothing may be approved even if the checks pass; empty: it may

  bool good() const { return passed && objections.empty(); }
};

struct Verdict {
  StoryFile file;
  std::string story;  // empty: no story moved
  StoryStep outcome = StoryStep::kNone;
  bool changed = false;  // ralph changed the file
};

// `before` is the list before the iteration, `now` the result of enforce().
Verdict settle(const StoryFile& before, const Enforcement& now, const ReviewRules& rules, const ChecksEnd& checks);

}  // namespace ralph
