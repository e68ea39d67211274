#include "plan/verdict.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace ralph {
namespace {

// The last of the done stories: its work is the newest.
const Story* last_done(const StoryList& tasks, bool skip_review) {
  const Story* last = nullptr;
  for (const Story& story : tasks.stories) {
    if (is_done(story, skip_review) && (!last || story.priority >= last->priority)) last = &story;
  }
  return last;
}

bool is_approval(StoryStep step) {
  return step == StoryStep::kApproved || step == StoryStep::kAutoApproved;
}

class Settling {
 public:
  Settling(const StoryFile& before, const Enforcement& now, const ReviewRules& rules, const ChecksEnd& checks)
      : before_(before), now_(now), rules_(rules), checks_(checks) {}

  Verdict settle() {
    result_.file = now_.file;
    result_.changed = now_.heard;
    if (rules_.skip_review) {
      settle_passing();
    } else {
      settle_review();
    }
    const StoryList& tasks = now_.file.tasks;
    // All stories are done but a check fails. The plan is not done, so reopen a story.
    if (!checks_.good() && result_.outcome != StoryStep::kSentBack &&
        count_done(tasks, rules_.skip_review) == tasks.stories.size())
      send_back(*last_done(tasks, rules_.skip_review));
    return std::move(result_);
  }

 private:
  void settle_review() {
    const Story* story = now_.moved.empty() ? nullptr : now_.file.tasks.find(now_.moved);
    if (!story) return;
    result_.story = story->id;
    result_.outcome = now_.step;
    const bool at_cap = story->review.count >= rules_.review_cap;
    if (now_.step == StoryStep::kChangesRequested) {
      if (at_cap && checks_.good()) auto_approve(*story);
      if (at_cap && !checks_.good()) change(*story, with_count_of_cap(story->review));
    } else if (is_approval(now_.step) ? !checks_.good() : !checks_.passed) {
      send_back(*story);
    } else if (!is_approval(now_.step) && !story->review.feedback.empty()) {  // submitted: only reviews write feedback
      Review review = story->review;
      review.feedback.clear();
      change(*story, review);
    }
  }

  void settle_passing() {
    std::unordered_map<std::string_view, bool> passed;
    for (const Story& story : before_.tasks.stories) passed[story.id] = story.review.passes;
    for (const Story& story : now_.file.tasks.stories) {
      if (!story.review.passes || passed[story.id]) continue;
      result_.story = story.id;
      result_.outcome = StoryStep::kPassed;
      if (!checks_.good()) send_back(story);
    }
  }

  // Limits the count to the cap: failing commands must not use up the reviews.
  Review with_count_of_cap(Review review) const {
    review.count = std::min(review.count, rules_.review_cap);
    return review;
  }

  void auto_approve(const Story& story) {
    Review review = story.review;
    review.passes = true;
    review.status = ReviewStatus::kApproved;
    if (!review.feedback.starts_with(kAutoApproved))
      review.feedback = fmt::format("{} {}", kAutoApproved, review.feedback);
    const bool no_notes = trim(story.notes).empty();
    change(story, review, no_notes ? "Approved by ralph at the review cap; see reviewFeedback." : "");
    result_.outcome = StoryStep::kAutoApproved;
  }

  void send_back(const Story& story) {
    Review review = with_count_of_cap(story.review);
    review.passes = false;
    if (!rules_.skip_review) {
      review.status = ReviewStatus::kChangesRequested;
      review.feedback = what_is_wrong();
    }
    change(story, review);
    result_.story = story.id;
    result_.outcome = StoryStep::kSentBack;
  }

  std::string what_is_wrong() const {
    std::vector<std::string> parts;
    if (!trim(checks_.failures).empty()) parts.push_back(checks_.failures);
    if (!checks_.objections.empty()) parts.push_back(checks_.objections);
    return parts.empty() ? "The checks that ralph ran itself failed." : join(parts, "\n\n");
  }

  void change(const Story& story, const Review& review, std::string_view notes = {}) {
    if (review == story.review && notes.empty()) return;
    result_.file = with_review(result_.file, story.id, review, notes);
    result_.changed = true;
  }

  const StoryFile& before_;
  const Enforcement& now_;
  const ReviewRules& rules_;
  const ChecksEnd& checks_;
  Verdict result_;
};

}  // namespace

Verdict settle(const StoryFile& before, const Enforcement& now, const ReviewRules& rules, const ChecksEnd& checks) {
  return Settling(before, now, rules, checks).settle();
}

}  // namespace ralph
