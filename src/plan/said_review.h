// The verdict of a review in the reviewer's own final words, and what counts if tasks.json says something else: an
// approval counts only if it was said, a request for changes wherever it stands. Pure.
//
//   <review story="US-001">approved</review>
//   <review story="US-001">changes_requested
//   The reasons.
//   </review>
#pragma once

#include <string>
#include <string_view>

#include "plan/enforce.h"

namespace ralph {

struct SaidReview {
  StoryStep step = StoryStep::kNone;  // kApproved, kChangesRequested, or no verdict
  std::string reasons{};              // of kChangesRequested; never empty then
  bool operator==(const SaidReview&) const = default;
};

// The last tag for the story counts. It begins a line; what it holds is exactly "approved", or begins with
// "changes_requested". A tag that stands in the prompt after the same line is an echo of it. In a code block or the
// like (base/quoting.h) an approval is quoted, perhaps from a file that asks for it, and is none; nor is it one if
// words follow it on its line. Beside a request for changes that is not quoted, an approval counts only as the last
// line.
SaidReview review_said(std::string_view words, const std::string& story, std::string_view prompt);

// The tag that approves a story, for people and prompts.
std::string approving_tag(const std::string& story);

// Applies what a review said to what it wrote. `before` is the list before the iteration, `enforced` the result of
// enforce() for a review. The changes are in `enforced`, with `heard` or `unsaid`.
void hear_review(Enforcement& enforced, const StoryFile& before, const ReviewRules& rules, const SaidReview& said);

}  // namespace ralph
