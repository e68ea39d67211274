#include "plan/statistics.h"

#include <gtest/gtest.h>

#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

const Review kCapped{true, ReviewStatus::kApproved, 5, "[AUTO-APPROVED AT CAP] slow"};

TEST(ReviewStatistics, CountWhatTheReviewsDid) {
  const StoryList tasks = list({story("A", approved(1)), story("B", rejected(3)), story("C"), story("D", kCapped),
                                story("E", waiting(1)), story("F", approved(1))});
  const ReviewStatistics sum = review_statistics(tasks);
  EXPECT_EQ(sum.reviews, 11);
  EXPECT_EQ(sum.reviewed, 5);
  EXPECT_EQ(sum.first_time, 2) << "one review is no approval by itself";
  EXPECT_EQ(sum.at_cap, 1);
  EXPECT_DOUBLE_EQ(sum.average, 2.2);
  EXPECT_EQ(sum.most, &tasks.stories[3]);
}

TEST(ReviewStatistics, AStoryApprovedAtACapOfOneWasNotApprovedAtOnce) {
  const StoryList tasks = list({story("A", {true, ReviewStatus::kApproved, 1, "[AUTO-APPROVED AT CAP] x"})});
  EXPECT_EQ(review_statistics(tasks).first_time, 0);
  EXPECT_EQ(review_statistics(tasks).at_cap, 1);
}

TEST(ReviewStatistics, OnlyAnApprovalIsOneAtTheCap) {
  const StoryList tasks = list({story("A", {false, ReviewStatus::kNone, 0, "[AUTO-APPROVED AT CAP] so I say"}),
                                story("B", rejected(1, "[AUTO-APPROVED AT CAP] not yet"))});
  EXPECT_EQ(review_statistics(tasks).at_cap, 0);
}

TEST(ReviewStatistics, OfSeveralWithTheMostReviewsTheFirstIsNamed) {
  const StoryList tasks = list({story("A", waiting(2)), story("B", waiting(2))});
  EXPECT_EQ(review_statistics(tasks).most, &tasks.stories[0]);
}

TEST(ReviewStatistics, AreEmptyForAnUntouchedPlan) {
  const ReviewStatistics sum = review_statistics(list({story("A")}));
  EXPECT_EQ(sum.reviews, 0);
  EXPECT_EQ(sum.average, 0);
  EXPECT_EQ(sum.most, nullptr);
  EXPECT_EQ(review_sentence(sum), "");
}

TEST(ReviewSentence, ReadsWell) {
  const auto sentence = [](const StoryList& tasks) { return review_sentence(review_statistics(tasks)); };
  EXPECT_EQ(sentence(list({story("A", approved(1))})), "1 review of 1 story, 1.0 each; 1 approved at once");
  EXPECT_EQ(sentence(list({story("US-001", approved(1)), story("US-002", approved(3)), story("US-003", approved(1))})),
            "5 reviews of 3 stories, 1.7 each; 2 approved at once; most: US-002 (3)");
  EXPECT_EQ(sentence(list({story("A", kCapped)})),
            "5 reviews of 1 story, 5.0 each; 0 approved at once; most: A (5); approved at the cap, worth a look: 1");
}

}  // namespace
}  // namespace ralph
