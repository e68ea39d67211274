#include "ui/plan_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "journal/plan_notes.h"

namespace ralph {
namespace {

// Indexed by StoryStep.
constexpr std::array<std::string_view, 8> kOutcomes = {
    "",
    "is implemented and awaits its review",
    "is fixed and awaits its next review",
    "is approved",
    "is approved because the review cap is reached; see its reviewFeedback",
    "needs changes",
    "goes back: the checks that ralph ran fail",
    "passes",
};

}  // namespace

std::string plan_work_text(const record::PlanWork& work) {
  std::string text = fmt::format("{} {}: {}", to_string(work.mode), work.story, work.title);
  if (work.mode == Mode::kReview) text += fmt::format(" (review {} of at most {})", work.reviews + 1, work.review_cap);
  if (!work.room.empty()) text += fmt::format(", in the clean checkout {}", work.room);
  return text;
}

std::string plan_outcome_text(const record::PlanChecked& checked) {
  const std::string done = fmt::format("{} of {} done", checked.done, count_of(checked.stories, "story"));
  const std::string_view outcome = kOutcomes[static_cast<size_t>(checked.outcome)];
  if (outcome.empty() && checked.pending)
    return fmt::format("{} moved, but was not checked before the stop; {}", checked.pending->story, done);
  if (checked.outcome == StoryStep::kSentBack &&
      std::ranges::any_of(checked.notes, [](const std::string& note) { return note.starts_with(kObjection); }))
    return fmt::format("{} goes back, though its checks pass; {}", checked.story, done);
  if (outcome.empty()) return checked.iteration > 0 ? fmt::format("no story moved; {}", done) : done;
  return fmt::format("{} {}; {}", checked.story, outcome, done);
}

}  // namespace ralph
