#include "plan/verdict.h"

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"
#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

constexpr std::int64_t kCap = 3;

struct Settled {
  StoryStep outcome;
  std::string story;
  Review review;
  bool changed = false;
};

// Moves story A from `before` to `after` in this mode. B stays open, so the plan is not done.
Settled settled(Mode mode, const Review& before, const Review& after, bool passed, bool skip_review = false) {
  const ReviewRules rules{mode, "A", skip_review, kCap};
  const StoryFile file = file_of(list({story("A", before), story("B")}));
  const Enforcement now = enforce(file, text_of(list({story("A", after), story("B")})), rules, "x");
  EXPECT_TRUE(now.violations.empty()) << messages_of(now.violations);
  const Verdict verdict = settle(file, now, rules, {passed, passed ? "" : "make test failed: 3 errors"});
  EXPECT_TRUE(read_tasks(verdict.file.text, "x").tasks) << verdict.file.text;
  EXPECT_EQ(text_of(verdict.file.tasks), text_of(tasks_from(verdict.file.text, "x").value()));
  EXPECT_EQ(verdict.changed, verdict.file.text != now.file.text);
  return {verdict.outcome, verdict.story, verdict.file.tasks.stories[0].review, verdict.changed};
}

struct Row {
  const char* situation;
  Mode mode;
  Review before, after;
  bool passed;
  const char* outcome;
  Review left;
};

TEST(Settle, FollowsItsTable) {
  const std::string said = "make test failed: 3 errors";
  const auto capped = [](std::int64_t count, const char* feedback) {
    return Review{true, ReviewStatus::kApproved, count, fmt::format("[AUTO-APPROVED AT CAP] {}", feedback)};
  };
  const Row rows[] = {
      {"nothing moved", Mode::kImplement, kOpen, kOpen, true, "", kOpen},
      {"nothing moved, and the checks fail", Mode::kImplement, kOpen, kOpen, false, "", kOpen},
      {"a review gave no verdict", Mode::kReview, waiting(1), waiting(1), false, "", waiting(1)},
      {"submitted", Mode::kImplement, kOpen, waiting(), true, "submitted", waiting()},
      {"submitted with words that only a review has",
       Mode::kImplement,
       kOpen,
       {false, ReviewStatus::kNeedsReview, 0, "lovely"},
       true,
       "submitted",
       waiting()},
      {"submitted, and the checks fail", Mode::kImplement, kOpen, waiting(), false, "sent_back", rejected(0, said)},
      {"approved", Mode::kReview, waiting(), approved(), true, "approved", approved()},
      {"approved, and the checks fail", Mode::kReview, waiting(), approved(), false, "sent_back", rejected(1, said)},
      {"approved at the cap", Mode::kReview, waiting(2), approved(3), true, "approved", approved(3)},
      {"approved at the cap, and the checks fail", Mode::kReview, waiting(2), approved(3), false, "sent_back",
       rejected(3, said)},
      {"approved after the cap, and the checks fail: another review stays possible", Mode::kReview, waiting(3),
       approved(4), false, "sent_back", rejected(3, said)},
      {"changes requested", Mode::kReview, waiting(), rejected(1), true, "changes_requested", rejected(1)},
      {"changes requested, and the checks fail", Mode::kReview, waiting(), rejected(1), false, "changes_requested",
       rejected(1)},
      {"changes requested just before the cap", Mode::kReview, waiting(1), rejected(2), true, "changes_requested",
       rejected(2)},
      {"changes requested at the cap", Mode::kReview, waiting(2), rejected(3), true, "auto_approved",
       capped(3, "mend it")},
      {"changes requested after the cap", Mode::kReview, waiting(3), rejected(4), true, "auto_approved",
       capped(4, "mend it")},
      {"the reviewer wrote the words itself", Mode::kReview, waiting(2), rejected(3, "[AUTO-APPROVED AT CAP] slow"),
       true, "auto_approved", capped(3, "slow")},
      {"changes requested at the cap, and the checks fail", Mode::kReview, waiting(2), rejected(3), false,
       "changes_requested", rejected(3)},
      {"changes requested after the cap, and the checks fail", Mode::kReview, waiting(3), rejected(4), false,
       "changes_requested", rejected(3)},
      {"resubmitted", Mode::kReviewFix, rejected(2), waiting(2), true, "resubmitted", waiting(2)},
      {"resubmitted with the old feedback",
       Mode::kReviewFix,
       rejected(2),
       {false, ReviewStatus::kNeedsReview, 2, "mend it"},
       true,
       "resubmitted",
       waiting(2)},
      {"resubmitted, and the checks fail", Mode::kReviewFix, rejected(2), waiting(2), false, "sent_back",
       rejected(2, said)},
  };
  for (const Row& row : rows) {
    const Settled result = settled(row.mode, row.before, row.after, row.passed);
    EXPECT_EQ(result.outcome, row.outcome) << row.situation;
    EXPECT_EQ(result.story, std::string_view(row.outcome).empty() ? "" : "A") << row.situation;
    EXPECT_EQ(result.review, row.left) << row.situation << ": " << result.review.feedback;
    EXPECT_EQ(result.changed, row.left != row.after) << row.situation;
  }
}

TEST(Settle, WithoutReviewsPassingIsDoneUnlessTheChecksFail) {
  const Review passes{true, ReviewStatus::kNone, 0, ""};
  EXPECT_EQ(settled(Mode::kImplement, kOpen, passes, true, true).outcome, "passed");
  EXPECT_EQ(settled(Mode::kImplement, kOpen, passes, true, true).review, passes);
  const Settled failed = settled(Mode::kImplement, kOpen, passes, false, true);
  EXPECT_EQ(failed.outcome, "sent_back");
  EXPECT_EQ(failed.review, kOpen) << "no review took place";
  EXPECT_EQ(settled(Mode::kImplement, kOpen, kOpen, false, true).outcome, "");
  EXPECT_EQ(settled(Mode::kImplement, passes, passes, false, true).outcome, "") << "it passed before";
}

// All stories are done in `tasks`, none moved, and the checks fail.
Verdict all_done_and_failing(const StoryList& tasks, bool skip_review) {
  const ReviewRules rules{Mode::kImplement, "", skip_review, kCap};
  const StoryFile file = file_of(tasks);
  return settle(file, enforce(file, file.text, rules, "x"), rules, {false, "make test failed"});
}

TEST(Settle, APlanThatIsDoneAndFailsHasAStoryThatIsNot) {
  const StoryList tasks =
      list({story("A", approved(), {}, 1), story("B", approved(9), {}, 7), story("C", approved(), {}, 3)});
  const Verdict verdict = all_done_and_failing(tasks, false);
  EXPECT_EQ(verdict.outcome, "sent_back");
  EXPECT_EQ(verdict.story, "B") << "the last by priority is the newest";
  EXPECT_EQ(verdict.file.tasks.find("B")->review, rejected(kCap, "make test failed"));
  EXPECT_EQ(count_done(verdict.file.tasks, false), 2U);
  EXPECT_TRUE(judge_invariants(verdict.file.tasks, kCap).empty());
}

TEST(Settle, APlanThatIsDoneWithoutReviewsAndFailsToo) {
  const Review passes{true, ReviewStatus::kNone, 0, ""};
  const Verdict verdict = all_done_and_failing(list({story("A", passes), story("B", passes)}), true);
  EXPECT_EQ(verdict.story, "B") << "of equals the last in the file";
  EXPECT_EQ(count_done(verdict.file.tasks, true), 1U);
  EXPECT_EQ(verdict.file.tasks.find("B")->review, kOpen);
}

TEST(Settle, TheLastApprovalIsSentBackOnceAndNoOtherStoryWithIt) {
  const ReviewRules rules{Mode::kReview, "A", false, kCap};
  const StoryFile before = file_of(list({story("A", waiting(), {}, 1), story("B", approved(), {}, 2)}));
  const Enforcement now =
      enforce(before, text_of(list({story("A", approved(), {}, 1), story("B", approved(), {}, 2)})), rules, "x");
  const Verdict verdict = settle(before, now, rules, {false, "no"});
  EXPECT_EQ(verdict.story, "A");
  EXPECT_EQ(verdict.file.tasks.find("B")->review, approved());
}

TEST(Settle, FailingChecksThatSayNothingStillGiveAFeedback) {
  const ReviewRules rules{Mode::kImplement, "A", false, kCap};
  const StoryFile before = file_of(list({story("A"), story("B")}));
  for (const char* failures : {"", " \n"}) {
    const Verdict verdict =
        settle(before, enforce(before, text_of(list({story("A", waiting()), story("B")})), rules, "x"), rules,
               {false, failures});
    EXPECT_EQ(verdict.file.tasks.stories[0].review, rejected(0, "The checks that ralph ran itself failed."));
    EXPECT_TRUE(judge_invariants(verdict.file.tasks, kCap).empty());
  }
}

TEST(Settle, AnApprovalAtTheCapHasNotes) {
  const ReviewRules rules{Mode::kReview, "A", false, 1};
  const StoryFile before = file_of(list({story("A", waiting()), story("B")}));
  const Verdict verdict =
      settle(before, enforce(before, text_of(list({story("A", rejected()), story("B")})), rules, "x"), rules, {});
  EXPECT_EQ(verdict.outcome, "auto_approved");
  EXPECT_EQ(verdict.file.tasks.stories[0].notes, "Approved by ralph at the review cap; see reviewFeedback.");
  EXPECT_EQ(verdict.file.tasks.stories[0].review.feedback, "[AUTO-APPROVED AT CAP] mend it");
  Story noted = story("A", rejected());
  noted.notes = "mine";
  const Verdict kept = settle(before, enforce(before, text_of(list({noted, story("B")})), rules, "x"), rules, {});
  EXPECT_EQ(kept.file.tasks.stories[0].notes, "mine");
}

TEST(Settle, SeveralThatPassAtOnceAreAllSentBack) {  // does not rely on enforce() letting only one through
  const Review passes{true, ReviewStatus::kNone, 0, ""};
  const ReviewRules rules{Mode::kImplement, "A", true, kCap};
  const StoryFile before = file_of(list({story("A"), story("B"), story("C")}));
  Enforcement now;
  now.file = file_of(list({story("A", passes), story("B", passes), story("C")}));
  EXPECT_EQ(count_done(settle(before, now, rules, {true, ""}).file.tasks, true), 2U);
  EXPECT_EQ(count_done(settle(before, now, rules, {false, "no"}).file.tasks, true), 0U);
}

TEST(Settle, ChangesNothingButTheStorysOwnFields) {
  const ReviewRules rules{Mode::kImplement, "A", false, kCap};
  std::string text = text_of(list({story("A"), story("B")}));
  text = replace_all(text, "  ", "\t");
  const StoryFile before = story_file_from(text, "x").value();
  const std::string submitted = text.replace(text.find("null"), 4, "\"needs_review\"");
  const Verdict verdict = settle(before, enforce(before, submitted, rules, "x"), rules, {false, "no"});
  std::string expected = submitted;
  expected.replace(expected.find("needs_review"), 12, "changes_requested");
  expected.replace(expected.find("\"reviewFeedback\": \"\""), 20, "\"reviewFeedback\": \"no\"");
  EXPECT_EQ(verdict.file.text, expected);
}

}  // namespace
}  // namespace ralph
