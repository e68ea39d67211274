#include "plan/statistics.h"

#include "base/text.h"
#include "plan/verdict.h"

namespace ralph {

bool approved_at_cap(const Story& story) {
  return is_done(story, false) && trim(story.review.feedback).starts_with(kAutoApproved);
}

ReviewStatistics review_statistics(const StoryList& tasks) {
  ReviewStatistics sum;
  for (const Story& story : tasks.stories) {
    const Review& review = story.review;
    if (review.count == 0) continue;
    sum.reviews += review.count;
    ++sum.reviewed;
    const bool at_cap = approved_at_cap(story);
    if (at_cap) ++sum.at_cap;
    if (is_done(story, false) && review.count == 1 && !at_cap) ++sum.first_time;
    if (!sum.most || review.count > sum.most->review.count) sum.most = &story;
  }
  if (sum.reviewed > 0) sum.average = static_cast<double>(sum.reviews) / sum.reviewed;
  return sum;
}

std::string review_sentence(const ReviewStatistics& statistics) {
  if (statistics.reviews == 0) return {};
  std::string text = fmt::format("{} of {}, {:.1f} each; {} approved at once",
                                 count_of(static_cast<unsigned long long>(statistics.reviews), "review"),
                                 count_of(static_cast<unsigned>(statistics.reviewed), "story"), statistics.average,
                                 statistics.first_time);
  if (statistics.most && statistics.most->review.count > 1)
    text += fmt::format("; most: {} ({})", statistics.most->id, statistics.most->review.count);
  if (statistics.at_cap > 0) text += fmt::format("; approved at the cap, worth a look: {}", statistics.at_cap);
  return text;
}

}  // namespace ralph
