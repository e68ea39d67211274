#include "plan/modes.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace ralph {
namespace {

const Story* first_by_priority(const Story* best, const Story& story) {
  return !best || story.priority < best->priority ? &story : best;
}

const Story* first_with(const StoryList& tasks, ReviewStatus status) {
  const Story* best = nullptr;
  for (const Story& story : tasks.stories) {
    if (story.review.status == status && !story.review.passes) best = first_by_priority(best, story);
  }
  return best;
}

const Story* first_ready(const StoryList& tasks, bool skip_review) {
  std::unordered_set<std::string_view> done;
  for (const Story& story : tasks.stories) {
    if (is_done(story, skip_review)) done.insert(story.id);
  }
  const Story* best = nullptr;
  for (const Story& story : tasks.stories) {
    const bool open = !story.review.passes && (skip_review || story.review.status == ReviewStatus::kNone);
    const bool ready = open && std::all_of(story.depends_on.begin(), story.depends_on.end(),
                                           [&](const std::string& id) { return done.contains(id); });
    if (ready) best = first_by_priority(best, story);
  }
  return best;
}

double reviews_per_story(const StoryList& tasks) {
  double reviews = 0;
  int stories = 0;
  for (const Story& story : tasks.stories) {
    if (!is_done(story, false)) continue;
    reviews += static_cast<double>(story.review.count);
    ++stories;
  }
  return stories == 0 ? 1.5 : std::max(1.0, reviews / stories);
}

}  // namespace

std::optional<Work> next_work(const StoryList& tasks, bool skip_review) {
  if (!skip_review) {
    if (const Story* story = first_with(tasks, ReviewStatus::kChangesRequested)) return Work{Mode::kReviewFix, story};
    if (const Story* story = first_with(tasks, ReviewStatus::kNeedsReview)) return Work{Mode::kReview, story};
  }
  if (const Story* story = first_ready(tasks, skip_review)) return Work{Mode::kImplement, story};
  return std::nullopt;
}

int estimate_iterations(const StoryList& tasks, bool skip_review) {
  if (skip_review) return static_cast<int>(tasks.stories.size() - count_done(tasks, true));
  const double reviews = reviews_per_story(tasks);
  double sum = 0;
  for (const Story& story : tasks.stories) {
    if (is_done(story, false)) continue;
    // Every review except the last is followed by a fix.
    const double left = std::max(1.0, reviews - static_cast<double>(story.review.count));
    sum += story.review.status == ReviewStatus::kNeedsReview ? 2 * left - 1 : 2 * left;
  }
  return static_cast<int>(std::ceil(sum));
}

}  // namespace ralph
