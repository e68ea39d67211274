#include "plan/pending.h"

namespace ralph {

record::PendingReview to_record(const PendingStep& pending) {
  const Review& review = pending.review;
  return {pending.story, pending.step,   review.passes, std::string(to_string(review.status)),
          review.count,  review.feedback};
}

PendingStep pending_from(const record::PendingReview& pending) {
  Review review;
  review.passes = pending.passes;
  review.status = from_word<ReviewStatus>(pending.status).value_or(ReviewStatus::kNone);
  review.count = pending.count;
  review.feedback = pending.feedback;
  return {pending.story, pending.step, std::move(review)};
}

std::optional<PendingStep> pending_from(const Enforcement& enforced) {
  const Story* const story = enforced.moved.empty() ? nullptr : enforced.file.tasks.find(enforced.moved);
  if (!story) return std::nullopt;
  return PendingStep{enforced.moved, enforced.step, story->review};
}

StoryFile hold_back(const StoryFile& file, const StoryFile& before, const PendingStep& pending) {
  const Story* const was = before.tasks.find(pending.story);
  return pending.review.passes && was ? with_review(file, pending.story, was->review) : file;
}

bool still_applies(const PendingStep& pending, const StoryList& left, const StoryList& now) {
  const Story* const was = left.find(pending.story);
  const Story* const is = now.find(pending.story);
  return was && is && was->review == is->review;
}

void resume(Enforcement& enforced, const PendingStep& pending) {
  enforced.file = with_review(enforced.file, pending.story, pending.review);
  enforced.moved = pending.story;
  enforced.step = pending.step;
}

}  // namespace ralph
