// A story's step that was not checked, because the run was asked to stop: the next run checks it first. Until then an
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

// To the form in a journal, and back.
record::PendingReview to_record(const PendingStep& pending);
PendingStep pending_from(const record::PendingReview& pending);

// The step that an iteration took; nullopt if none.
std::optional<PendingStep> pending_from(const Enforcement& enforced);

// tasks.json as the run leaves it: if the step made the story pass, with its review from `before`.
StoryFile hold_back(const StoryFile& file, const StoryFile& before, const PendingStep& pending);

// Whether the story is still as the run left it. If not, the user has decided otherwise.
bool still_stands(const PendingStep& pending, const StoryList& left, const StoryList& now);

// Applies the step that was held back, for settle() to decide on.
void resume(Enforcement& enforced, const PendingStep& pending);

}  // namespace ralph
