// A step of a story that no check has looked at, because the run was asked to stop before: the next run makes the
// checks first. Until then an approval does not stand in tasks.json. Pure.
#pragma once

#include <optional>
#include <string>

#include "journal/records.h"
#include "plan/enforce.h"

namespace ralph {

struct PendingStep {
  std::string story;
  StoryStep step = StoryStep::kNone;
  Review review;  // what the iteration made of the story
};

// As it stands in a journal, and back.
record::PendingReview to_record(const PendingStep& pending);
PendingStep pending_from(const record::PendingReview& pending);

// The step that an iteration took; nothing if it took none.
std::optional<PendingStep> pending_from(const Enforcement& enforced);

// tasks.json as the run leaves it: with the story's review of `before` where the step made it pass.
StoryFile hold_back(const StoryFile& file, const StoryFile& before, const PendingStep& pending);

// Whether the story is still as the run left it. If not, its user has decided otherwise.
bool still_stands(const PendingStep& pending, const StoryList& left, const StoryList& now);

// Takes the step that was held back: what settle() has to decide on.
void resume(Enforcement& enforced, const PendingStep& pending);

}  // namespace ralph
