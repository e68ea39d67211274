#include "ui/phrases.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"

namespace ralph {
namespace {

TEST(Figures, CountsAreShort) {
  struct Row {
    std::int64_t count;
    const char* text;
  };
  const Row rows[] = {{-5, "0"},
                      {0, "0"},
                      {999, "999"},
                      {1000, "1K"},
                      {1049, "1K"},
                      {1234, "1.2K"},
                      {9949, "9.9K"},
                      {9950, "10K"},
                      {45'000, "45K"},
                      {850'400, "850K"},
                      {999'499, "999K"},
                      {999'500, "1M"},
                      {1'200'000, "1.2M"},
                      {12'345'678, "12M"},
                      {3'000'000'000, "3B"},
                      {4'000'000'000'000, "4000B"}};
  for (const Row& row : rows) EXPECT_EQ(human_count(row.count), row.text) << row.count;
  EXPECT_EQ(human_count(std::numeric_limits<std::int64_t>::max()), "9223372037B");
}

TEST(Figures, AMomentOfAnotherDayHasItsDate) {
  ::setenv("TZ", "UTC-2", 1);  // two hours east
  ::tzset();
  const WallTime now(Milliseconds(1'794'774'153'000));  // 2026-11-15T20:22:33Z
  EXPECT_EQ(time_of_day(now), "22:22:33");
  EXPECT_EQ(moment(now + std::chrono::minutes(90), now), "23:52");
  EXPECT_EQ(moment(now + std::chrono::minutes(100), now), "2026-11-16 00:02");
  EXPECT_EQ(moment(now + std::chrono::years(1), now), "2027-11-16 04:11");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(PlanWorkText, NamesTheModeTheStoryAndWhichReviewItIs) {
  record::PlanWork work;
  work.mode = word("implement");
  work.story = "US-001";
  work.title = "A title";
  work.review_cap = 5;
  EXPECT_EQ(plan_work_text(work), "implement US-001: A title");
  work.mode = word("review-fix");
  EXPECT_EQ(plan_work_text(work), "review-fix US-001: A title");
  work.mode = word("review");
  work.reviews = 1;
  EXPECT_EQ(plan_work_text(work), "review US-001: A title (review 2 of at most 5)");
  work.room = "/room";
  EXPECT_EQ(plan_work_text(work), "review US-001: A title (review 2 of at most 5), in the clean checkout /room");
}

TEST(PlanOutcomeText, SaysWhatBecameOfTheStoryAndHowFarThePlanIs) {
  const std::pair<const char*, const char*> rows[] = {
      {"submitted", "US-001 is implemented and awaits its review; 2 of 5 stories done"},
      {"resubmitted", "US-001 is fixed and awaits its next review; 2 of 5 stories done"},
      {"approved", "US-001 is approved; 2 of 5 stories done"},
      {"auto_approved",
       "US-001 is approved because the review cap is reached; see its reviewFeedback; 2 of 5 stories done"},
      {"changes_requested", "US-001 needs changes; 2 of 5 stories done"},
      {"sent_back", "US-001 goes back: the checks that ralph ran fail; 2 of 5 stories done"},
      {"passed", "US-001 passes; 2 of 5 stories done"},
      {"", "no story moved; 2 of 5 stories done"},
  };
  for (const auto& [outcome, text] : rows) {
    record::PlanChecked checked;
    checked.iteration = 3;
    checked.story = "US-001";
    checked.outcome = word(outcome);
    checked.stories = 5;
    checked.done = 2;
    EXPECT_EQ(plan_outcome_text(checked), text);
  }
}

TEST(PlanOutcomeText, DoesNotBlameChecksThatPass) {
  record::PlanChecked checked;
  checked.iteration = 3;
  checked.story = "US-001";
  checked.outcome = StoryStep::kSentBack;
  checked.stories = 5;
  checked.notes = {"the checks pass, but the work is not committed: notes.txt"};
  EXPECT_EQ(plan_outcome_text(checked), "US-001 goes back, though its checks pass; 0 of 5 stories done");
}

TEST(PlanOutcomeText, SaysThatAStoryMovedWhoseChecksAreMissing) {
  record::PlanChecked checked;
  checked.iteration = 3;
  checked.stories = 1;
  checked.pending.emplace();
  checked.pending->story = "US-001";
  EXPECT_EQ(plan_outcome_text(checked), "US-001 moved, but was not checked before the stop; 0 of 1 story done");
}

TEST(PlanOutcomeText, BeforeTheFirstIterationOnlyCounts) {
  record::PlanChecked checked;
  checked.stories = 1;
  EXPECT_EQ(plan_outcome_text(checked), "0 of 1 story done");
}

}  // namespace
}  // namespace ralph
