#include "plan/modes.h"

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"
#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

const Review kPasses{true, ReviewStatus::kNone, 0, {}};

std::string next(const std::vector<Story>& stories, bool skip_review = false) {
  const StoryList tasks = list(stories);
  const auto work = next_work(tasks, skip_review);
  return work ? fmt::format("{} {}", to_string(work->mode), work->story->id) : "nothing";
}

TEST(NextWork, FollowsItsTable) {
  struct Row {
    const char* situation;
    std::vector<Story> stories;
    const char* work;
    bool skip_review = false;
  };
  const Row rows[] = {
      {"a new story is implemented", {story("A")}, "implement A"},
      {"what was submitted is reviewed", {story("A", waiting())}, "review A"},
      {"what was rejected is fixed", {story("A", rejected())}, "review-fix A"},
      {"nothing is left when all is approved", {story("A", approved())}, "nothing"},
      {"a review comes before new work", {story("A"), story("B", waiting())}, "review B"},
      {"a fix before a review", {story("A"), story("B", waiting()), story("C", rejected())}, "review-fix C"},
      {"the mode goes before the priority", {story("A", {}, {}, 1), story("B", rejected(), {}, 9)}, "review-fix B"},
      {"among new work the smallest priority", {story("A", {}, {}, 2), story("B", {}, {}, 1)}, "implement B"},
      {"among reviews too", {story("A", waiting(), {}, 2), story("B", waiting(), {}, 1.5)}, "review B"},
      {"among fixes too", {story("A", rejected(), {}, 0), story("B", rejected(), {}, -1)}, "review-fix B"},
      {"of equals the first in the file", {story("B", {}, {}, 1), story("A", {}, {}, 1)}, "implement B"},
      {"of equal reviews too", {story("B", waiting()), story("A", waiting())}, "review B"},
      {"of equal fixes too", {story("B", rejected()), story("A", rejected())}, "review-fix B"},
      {"what depends on open work waits", {story("A", {}, {"B"}, 1), story("B", {}, {}, 2)}, "implement B"},
      {"until that is approved", {story("A", {}, {"B"}, 1), story("B", approved(), {}, 2)}, "implement A"},
      {"all of it",
       {story("A", {}, {"B", "C"}, 1), story("B", approved()), story("C", {}, {"D"}, 2), story("D", {}, {}, 3)},
       "implement D"},
      {"a part of a story comes before the whole",
       {story("A", {}, {"A.1"}, 1), story("A.1", {}, {}, 5)},
       "implement A.1"},
      {"passing alone is not approved", {story("A", {}, {"B"}, 2), story("B", kPasses, {}, 1)}, "nothing"},
      {"a review does not wait for what it depends on", {story("A", waiting(), {"B"}), story("B")}, "review A"},
      {"nor does a fix", {story("A", rejected(), {"B"}), story("B")}, "review-fix A"},

      {"without reviews there is new work", {story("A"), story("B")}, "implement A", true},
      {"and nothing else", {story("A", waiting()), story("B", rejected())}, "implement A", true},
      {"what passes is done", {story("A", kPasses), story("B")}, "implement B", true},
      {"and counts as a dependency", {story("A", {}, {"B"}), story("B", kPasses)}, "implement A", true},
      {"open dependencies are waited for", {story("A", {}, {"B"}), story("B")}, "implement B", true},
      {"nothing is left when all passes", {story("A", kPasses), story("B", approved())}, "nothing", true},
  };
  for (const Row& row : rows) EXPECT_EQ(next(row.stories, row.skip_review), row.work) << row.situation;
}

TEST(NextWork, PointsIntoTheListThatItWasComputedFrom) {
  const StoryList tasks = list({story("A", approved()), story("B")});
  EXPECT_EQ(next_work(tasks, false)->story, &tasks.stories[1]);
}

TEST(Modes, HaveTheNamesOfTheMarker) {
  for (const Mode mode : {Mode::kImplement, Mode::kReview, Mode::kReviewFix})
    EXPECT_EQ(from_word<Mode>(to_string(mode)), mode);
  EXPECT_EQ(to_string(Mode::kReviewFix), "review-fix");
  EXPECT_EQ(from_word<Mode>("fix"), std::nullopt);
  EXPECT_EQ(from_word<Mode>("Review"), std::nullopt);
}

TEST(EstimateIterations, CountsWhatTheStoriesSoFarHaveNeeded) {
  struct Row {
    const char* situation;
    std::vector<Story> stories;
    int iterations;
    bool skip_review = false;
  };
  const Row rows[] = {
      {"nothing is left", {story("A", approved())}, 0},
      {"three for each while nothing is known", {story("A"), story("B")}, 6},
      {"one for the review, and half the chance of a fix and another", {story("A", waiting())}, 2},
      {"half of the last is a whole one", {story("A"), story("B", waiting(1))}, 4},
      {"a fix and its review", {story("A", rejected())}, 2},
      {"stories that were approved at once take two each", {story("A", approved()), story("B"), story("C")}, 4},
      {"stories that took three reviews take six each", {story("A", approved(3)), story("B"), story("C")}, 12},
      {"what one has had is not taken again", {story("A", approved(3)), story("B", rejected(2))}, 2},
      {"at least one more review", {story("A", approved(3)), story("B", waiting(4))}, 1},
      {"without reviews one for each", {story("A"), story("B", rejected()), story("C", kPasses)}, 2, true},
      {"and none for what passes", {story("A", kPasses)}, 0, true},
  };
  for (const Row& row : rows)
    EXPECT_EQ(estimate_iterations(list(row.stories), row.skip_review), row.iterations) << row.situation;
}

}  // namespace
}  // namespace ralph
