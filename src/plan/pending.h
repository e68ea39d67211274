// A story's step that was not checked because the run was asked to stop. The next run checks it first; until then an
// approval is not written to tasks.json. Pure.
#pragma once

#include <optional>
#include <string>

#include "journal/records.h"
#include "plan/enforce.h"

namespace ralph {

struct PendingStep {
  std::string story;
  StoryStep step = StoryStep::kNone;
  Review review;  // the story's review after the iteration
};

// Conversion to and from the journal's record.
record::PendingReview to_record(const PendingStep& pending);
PendingStep pending_from(const record::PendingReview& pending);

// The step that an iteration took; nullopt if none.
std::optional<PendingStep> pending_from(const Enforcement& enforced);

// tasks.json as the run leaves it. If the step made the story pass, its review is reset to that of `before`.
StoryFile hold_back(const StoryFile& file, const StoryFile& before, const PendingStep& pending);

// Whether the story is still as the run left it. If not, the user has decided otherwise.
bool still_applies(const PendingStep& pending, const StoryList& left, const StoryList& now);

// Applies the step that was held back, for settle() to decide on.
void resume(Enforcement& enforced, const PendingStep& pending);

}  // namespace ralph
