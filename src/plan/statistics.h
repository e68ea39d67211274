// Review statistics of a plan, from the reviewCount of its stories.
#pragma once

#include <string>

#include "plan/stories.h"

namespace ralph {

struct ReviewStatistics {
  std::int64_t reviews = 0;  // of all stories
  int reviewed = 0;          // stories with any review
  int first_time = 0;        // approved by their first review
  int at_cap = 0;            // approved because the cap was reached
  double average = 0;        // reviews per reviewed story
  const Story* most = nullptr;
};
bool approved_at_cap(const Story& story);
ReviewStatistics review_statistics(const StoryList& tasks);

// One sentence: "5 reviews of 3 stories, 1.7 each; 2 approved at once; most: US-002 (3)". Empty without reviews.
std::string review_sentence(const ReviewStatistics& statistics);

}  // namespace ralph
