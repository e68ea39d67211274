#include "plan/pending.h"

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"
#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

Enforcement after(const StoryFile& before, const Review& review, Mode mode, bool skip_review = false) {
  StoryList tasks = before.tasks;
  tasks.stories[0] = story("A", review);
  return enforce(before, text_of(tasks), {mode, "A", skip_review, 5}, "x");
}

TEST(Pending, AnApprovalIsHeldBackAndOtherStepsStay) {
  struct Row {
    const char* situation;
    Mode mode;
    Review before, given, left;
    bool skip_review = false;
  };
  const Review passing{true, ReviewStatus::kNone, 0, ""};
  const Row rows[] = {
      {"approved", Mode::kReview, waiting(1), approved(2), waiting(1)},
      {"changes requested", Mode::kReview, waiting(1), rejected(2), rejected(2)},
      {"submitted", Mode::kImplement, {}, waiting(), waiting()},
      {"resubmitted", Mode::kReviewFix, rejected(1), waiting(1), waiting(1)},
      {"passed without reviews", Mode::kImplement, {}, passing, {}, true},
  };
  for (const Row& row : rows) {
    const StoryFile before = file_of(list({story("A", row.before), story("B")}));
    const Enforcement enforced = after(before, row.given, row.mode, row.skip_review);
    const auto pending = pending_from(enforced);
    ASSERT_TRUE(pending) << row.situation << "\n" << messages_of(enforced.violations);
    EXPECT_EQ(pending->review, row.given) << row.situation;
    const StoryFile left = hold_back(enforced.file, before, *pending);
    EXPECT_EQ(left.tasks.find("A")->review, row.left) << row.situation;
    EXPECT_EQ(tasks_from(left.text, "x")->find("A")->review, row.left) << row.situation;

    // The next run finds the file in this state and applies the step.
    EXPECT_TRUE(still_applies(*pending, left.tasks, left.tasks)) << row.situation;
    Enforcement again;
    again.file = left;
    resume(again, *pending);
    EXPECT_EQ(again.moved, enforced.moved) << row.situation;
    EXPECT_EQ(again.step, enforced.step) << row.situation;
    EXPECT_EQ(again.file.tasks.find("A")->review, row.given) << row.situation;
  }
}

TEST(Pending, AnIterationThatTookNoStepHasNone) {
  const StoryFile before = file_of(list({story("A"), story("B")}));
  EXPECT_FALSE(pending_from(after(before, approved(), Mode::kImplement)));
}

TEST(Pending, WhatSomebodyDecidedSinceCounts) {
  const PendingStep pending{"A", word("approved"), approved()};
  const StoryList left = list({story("A", waiting()), story("B")});
  EXPECT_TRUE(still_applies(pending, left, list({story("A", waiting()), story("NEW")})));
  EXPECT_FALSE(still_applies(pending, left, list({story("A"), story("B")})));
  EXPECT_FALSE(still_applies(pending, left, list({story("A", rejected()), story("B")})));
  EXPECT_FALSE(still_applies(pending, left, list({story("B")})));
}

}  // namespace
}  // namespace ralph
