#include "plan/check.h"

#include <gtest/gtest.h>

#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

std::string made(const CheckReport& report) {
  std::vector<std::string> numbers;
  for (const Check check : report.performed) numbers.emplace_back(to_string(check));
  return join(numbers, " ");
}

// A request about `after` in an iteration that began with `before`.
struct Asked {
  std::string text;
  CheckRequest request;
  Asked(std::vector<Story> before, std::vector<Story> after, Mode mode) : text(text_of(list(std::move(after)))) {
    request.text = text;
    request.where = "ralph/tasks.json";
    request.before = before_from(list(std::move(before)));
    request.rules = ReviewRules{mode, "A", false, 5};
    request.uncommitted.emplace();
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
};

TEST(CheckPlan, APlanInOrderPassesAllChecks) {
  const Asked asked({story("A")}, {story("A", waiting())}, Mode::kImplement);
  const CheckReport report = check_plan(asked.request);
  EXPECT_TRUE(report.passed()) << messages_of(report.problems);
  EXPECT_EQ(made(report), "1 2 2.5 3");
  EXPECT_TRUE(report.warnings.empty());
  ASSERT_TRUE(report.tasks);
  EXPECT_EQ(report.tasks->stories[0].review, waiting());
}

TEST(CheckPlan, AnUnreadableListIsCheckedNoFurther) {
  Asked asked({story("A")}, {}, Mode::kImplement);
  asked.request.uncommitted = {" M a.c"};
  const CheckReport report = check_plan(asked.request);
  EXPECT_EQ(made(report), "1 3");
  EXPECT_FALSE(report.tasks);
  ASSERT_EQ(report.problems.size(), 2U) << messages_of(report.problems);
  EXPECT_TRUE(says(report.problems[0].message, "ralph/tasks.json: userStories is an empty list"));
  EXPECT_EQ(report.problems[1].check, Check::kUncommitted);
}

TEST(CheckPlan, CheckTwoFailsWhereTheTransitionIsNotKnown) {
  Asked asked({}, {story("A", {true, ReviewStatus::kNone, 0, ""})}, Mode::kImplement);
  asked.request.before.reset();
  const CheckReport report = check_plan(asked.request);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0].check, Check::kInvariants);
  EXPECT_TRUE(says(report.problems[0].message, "not 'approved'"));
}

TEST(CheckPlan, CheckTwoAndAHalfSeesWhatCheckTwoCannot) {
  const Asked asked({story("A")}, {story("A", approved(0))}, Mode::kImplement);
  const CheckReport report = check_plan(asked.request);
  ASSERT_EQ(report.problems.size(), 1U) << messages_of(report.problems);
  EXPECT_EQ(report.problems[0].check, Check::kTransitions);
}

TEST(CheckPlan, WhatIsPinnedBelongsToCheckTwoAndAHalf) {
  const Asked asked({story("A"), story("B")}, {story("A")}, Mode::kImplement);
  const CheckReport report = check_plan(asked.request);
  ASSERT_EQ(report.problems.size(), 1U) << messages_of(report.problems);
  EXPECT_EQ(report.problems[0].check, Check::kTransitions);
  EXPECT_TRUE(says(report.problems[0].message, "Story B is gone"));
}

TEST(CheckPlan, TheCapOfTheRequestIsTheOneThatCounts) {
  Asked asked({story("A", rejected(4))}, {story("A", waiting(4))}, Mode::kReviewFix);
  EXPECT_TRUE(check_plan(asked.request).passed());
  asked.request.review_cap = 2;
  EXPECT_TRUE(check_plan(asked.request).passed()) << "it was lowered, and ralph knows that there were four reviews";
  asked.request.before.reset();
  EXPECT_TRUE(says(messages_of(check_plan(asked.request).problems), "[2] A: Story A has reviewCount 4"));
}

TEST(CheckPlan, WithoutReviewsChecksTwoAndTwoAndAHalfAreLeftOut) {
  Asked asked({story("A"), story("B")}, {story("A", {true, ReviewStatus::kNone, 0, ""}), story("B", approved(0))},
              Mode::kImplement);
  EXPECT_FALSE(check_plan(asked.request).passed());
  asked.request.skip_review = true;
  const CheckReport report = check_plan(asked.request);
  EXPECT_TRUE(report.passed()) << messages_of(report.problems);
  EXPECT_EQ(made(report), "1 3");
}

TEST(CheckPlan, WithoutReviewsTheSchemaStillCounts) {
  Asked asked({story("A")}, {story("A")}, Mode::kImplement);
  asked.request.skip_review = true;
  asked.request.text = "{}";
  EXPECT_FALSE(check_plan(asked.request).passed());
}

TEST(CheckPlan, WithoutASnapshotItWarnsAndGoesByTheInvariants) {
  Asked asked({story("A")}, {story("A", approved(0))}, Mode::kImplement);
  asked.request.before.reset();
  asked.request.no_before = ".ralph-active has no preIterationSnapshot";
  const CheckReport report = check_plan(asked.request);
  EXPECT_TRUE(report.passed()) << "the end state is in order, and nobody knows the beginning";
  EXPECT_EQ(report.warnings, std::vector<std::string>{".ralph-active has no preIterationSnapshot"});
  EXPECT_EQ(made(report), "1 2 3");
}

TEST(CheckPlan, OutsideAnIterationThereIsNothingToWarnOf) {
  Asked asked({}, {story("A", waiting())}, Mode::kReview);
  asked.request.before.reset();
  asked.request.rules.reset();
  asked.request.uncommitted.reset();
  const CheckReport report = check_plan(asked.request);
  EXPECT_TRUE(report.passed());
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_EQ(made(report), "1 2");
}

TEST(CheckPlan, UncommittedWorkIsNamedWithWhatToDo) {
  Asked asked({story("A")}, {story("A")}, Mode::kImplement);
  asked.request.uncommitted = {" M src/a.c", "?? new file"};
  const CheckReport report = check_plan(asked.request);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0].check, Check::kUncommitted);
  EXPECT_EQ(report.problems[0].message, "There are uncommitted changes (src/a.c, new file).");
  for (const char* part : {"uncommitted changes (src/a.c, new file). Before", "(1) update progress.txt", "CLAUDE.md",
                           ".claude/rules/", "(3) commit ALL changes including progress.txt and tasks.json"})
    EXPECT_TRUE(says(advice_from(report), part)) << advice_from(report);
}

TEST(CheckPlan, ManyUncommittedFilesAreCounted) {
  Asked asked({story("A")}, {story("A")}, Mode::kImplement);
  asked.request.uncommitted = std::vector<std::string>(25, "?? x");
  EXPECT_TRUE(says(messages_of(check_plan(asked.request).problems), "x, x, and 15 more)"));
  asked.request.uncommitted = {"?"};  // shorter than git ever writes
  EXPECT_FALSE(check_plan(asked.request).passed());
}

TEST(AdviceFrom, TellsEveryProblem) {
  CheckReport report;
  report.problems = {{Check::kInvariants, "A", "first"}, {Check::kSchema, "", "second"}};
  EXPECT_EQ(advice_from(report), "You can't stop yet:\n- first\n- second");
}

TEST(CheckReport, IsWrittenAsJson) {
  CheckReport report;
  report.performed = {Check::kSchema, Check::kTransitions};
  EXPECT_EQ(json::serialize(to_json(report)), R"({"ok":true,"checks":["1","2.5"],"problems":[],"warnings":[]})");
  report.problems = {{Check::kTransitions, "US-1", "not \xff so"}, {Check::kSchema, "", "none"}};
  report.warnings = {"careful"};
  EXPECT_EQ(json::serialize(to_json(report)),
            "{\"ok\":false,\"checks\":[\"1\",\"2.5\"],\"problems\":[{\"check\":\"2.5\",\"story\":\"US-1\",\"message\":"
            "\"not \xEF\xBF\xBD so\"},{\"check\":\"1\",\"message\":\"none\"}],\"warnings\":[\"careful\"]}");
}

}  // namespace
}  // namespace ralph
