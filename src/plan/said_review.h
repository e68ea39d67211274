// The verdict in a reviewer's final message, and what counts if tasks.json disagrees with it: an approval counts only
// if the message has it, a request for changes counts in either place. Pure.
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

// The last tag for the story counts. It must begin a line, and its content must be exactly "approved" or begin with
// "changes_requested". A tag that also occurs in the prompt, after the same line, is an echo and is ignored. An
// approval in a code block or the like (base/quoting.h) is a quotation, perhaps from a file that asks for it, and does
// not count; nor does one that is followed by words on its line. If there is also an unquoted request for changes, an
// approval counts only as the last line.
SaidReview review_said(std::string_view words, const std::string& story, std::string_view prompt);

// The tag that approves a story, for people and prompts.
std::string approving_tag(const std::string& story);

// Applies the verdict that a review said to the one that it wrote. `before` is the list before the iteration,
// `enforced` the result of enforce() for a review. Updates `enforced`, including `heard`, `unsaid` and `disagreed`.
void apply_said_review(Enforcement& enforced, const StoryFile& before, const ReviewRules& rules,
                       const SaidReview& said);

}  // namespace ralph
