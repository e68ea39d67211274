#include "plan/assignment.h"

#include <gtest/gtest.h>

#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

// A plan of one story and its next prompt.
struct Told {
  StoryList tasks;
  Assignment assignment;
  explicit Told(Story one, Mode mode = Mode::kImplement) : tasks(list({std::move(one)})) {
    assignment.mode = mode;
    assignment.story = &tasks.stories[0];
    assignment.tasks = &tasks;
    assignment.iteration = 3;
    assignment.max_iterations = 15;
    assignment.files_at = "ralph";
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  std::string prompt(std::string_view text) const { return plan_prompt(text, assignment); }
  std::string text() const { return assignment_text(assignment); }
};

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

TEST(PlanPrompt, FillsInItsPlaces) {
  const Told told(story("US-7"), Mode::kImplement);
  EXPECT_TRUE(told.prompt("{{RALPH_ITERATION}} of {{RALPH_MAX_ITERATIONS}}, {{RALPH_MODE}} {{RALPH_STORY}}, cap "
                          "{{RALPH_REVIEW_CAP}}")
                  .starts_with("3 of 15, implement US-7, cap 5"));
}

TEST(PlanPrompt, NamesThePlansFolderOfThisRun) {
  Told told(story("US-7"));
  told.assignment.files_at = "moved/plan";
  EXPECT_TRUE(told.prompt("read {{RALPH_DIR}}/prd.md").starts_with("read moved/plan/prd.md"));
}

TEST(PlanPrompt, KnowsTheSeedsOwnNames) {
  const Told told(story("US-7"));
  EXPECT_TRUE(told.prompt("# $RALPH_ITERATION of $RALPH_MAX_ITERATIONS\n").starts_with("# 3 of 15\n"));
}

TEST(PlanPrompt, PutsTheAssignmentWhereItsPlaceIs) {
  const Told told(story("US-7"));
  EXPECT_EQ(told.prompt("before {{RALPH_ASSIGNMENT}} after"), "before " + told.text() + " after");
  EXPECT_EQ(told.prompt("{{RALPH_ASSIGNMENT}}{{RALPH_ASSIGNMENT}}"), told.text() + told.text());
}

TEST(PlanPrompt, WithoutAPlaceTheAssignmentStandsAtTheEnd) {
  const Told told(story("US-7"));
  EXPECT_EQ(told.prompt("Do it."), "Do it.\n\n" + told.text() + "\n");
  EXPECT_EQ(told.prompt(""), "\n\n" + told.text() + "\n");
}

TEST(PlanPrompt, OtherBracesAndDollarsStay) {
  const Told told(story("US-7"));
  EXPECT_TRUE(told.prompt("${HOME} {{ x }} {{RALPH}} $RALPH {{RALPH_ITERATION}")
                  .starts_with("${HOME} {{ x }} {{RALPH}} $RALPH {{RALPH_ITERATION}"));
}

TEST(PlanPrompt, AStorysOwnTextIsNeverFilledIn) {
  Story one = story("US-{{RALPH_MODE}}");
  one.title = "{{RALPH_MODE}} $RALPH_ITERATION {{RALPH_ASSIGNMENT}}";
  one.description = "{{RALPH_ITERATION}}";
  one.criteria = {"{{RALPH_STORY}}"};
  const Told told(one);
  expect_parts(told.prompt("{{RALPH_ASSIGNMENT}}"),
               {"Story US-{{RALPH_MODE}}: {{RALPH_MODE}} $RALPH_ITERATION {{RALPH_ASSIGNMENT}}",
                "\n{{RALPH_ITERATION}}\n", "- {{RALPH_STORY}}\n"});
}

TEST(Assignment, NamesTheStoryItsCriteriaAndTheCommands) {
  Story one = story("US-7");
  one.description = "  Each thing has a price.\n";
  const Told told(one);
  expect_parts(told.text(),
               {"## Your assignment: IMPLEMENT this story\n\nStory US-7: The title of US-7\n",
                "\nEach thing has a price.\n", "Acceptance criteria:\n- it works\n- it is tested\n",
                "Verify commands (ralph runs them itself after this iteration;",
                "a failing one outranks any approval):\n- make test\n", "takes back every change of review fields"});
}

TEST(Assignment, WithoutCommandsSpeaksOfNone) {
  Told told(story("US-7"));
  told.tasks.verify_commands.clear();
  EXPECT_EQ(told.text().find("Verify commands ("), std::string::npos);
}

TEST(Assignment, ToImplementEndsInAReview) {
  const std::string text = Told(story("US-7")).text();
  expect_parts(text, {"set `reviewStatus` of US-7 to \"needs_review\" in\nralph/tasks.json", "`notes`",
                      "Leave passes, reviewCount and reviewFeedback alone", "`feat: [US-7] - The title of US-7`"});
  EXPECT_EQ(text.find("approved"), std::string::npos);
}

TEST(Assignment, WithoutReviewsEndsInPassing) {
  Told told(story("US-7", rejected()), Mode::kReviewFix);
  told.assignment.skip_review = true;
  expect_parts(told.text(), {"IMPLEMENT this story (reviews are switched off for this run)",
                             "set `passes` of US-7 to true in ralph/tasks.json",
                             "Leave reviewStatus, reviewCount and reviewFeedback alone"});
}

TEST(Assignment, ToReviewSaysWhatEitherVerdictWrites) {
  const std::string text = Told(story("US-7", waiting(1)), Mode::kReview).text();
  expect_parts(text,
               {"REVIEW this story, which an earlier iteration implemented", "This is review 2 of at most 5.",
                "Do not fix anything.", "`reviewCount` becomes 2", "`reviewStatus` \"approved\" and `passes` true",
                "`review: [US-7] - approved`", "`reviewStatus` \"changes_requested\" and in `reviewFeedback`",
                "`review: [US-7] - changes requested`"});
  EXPECT_EQ(text.find("AUTO-APPROVED"), std::string::npos);
}

TEST(Assignment, TheLastReviewApprovesUnlessACommandFails) {
  for (const int reviews : {4, 5}) {
    expect_parts(Told(story("US-7", waiting(reviews)), Mode::kReview).text(),
                 {"as long as the verify commands succeed: this is the last review, so approve it all the same",
                  "`[AUTO-APPROVED AT CAP]`", "a verify command fails: `reviewStatus` \"changes_requested\""});
  }
}

TEST(Assignment, AReviewIsToldWhichTestsWereTakenAway) {
  Told told(story("US-7", waiting()), Mode::kReview);
  EXPECT_EQ(told.text().find("removed tests"), std::string::npos);
  told.assignment.tests = {"deleted: tests/a.py", "shortened: b_test.go (9 lines removed, 1 added)"};
  expect_parts(told.text(), {"removed tests", "- deleted: tests/a.py\n- shortened: b_test.go"});
}

TEST(Assignment, ToFixQuotesWhatTheReviewSaid) {
  const std::string text = Told(story("US-7", rejected(2, "1. slow\n\n2. wrong\n")), Mode::kReviewFix).text();
  expect_parts(text, {"FIX what the review of this story asked for", "The review said:\n\n> 1. slow\n> \n> 2. wrong\n",
                      "set `reviewStatus` of US-7 to\n\"needs_review\" and `reviewFeedback` to \"\"",
                      "Leave passes and reviewCount alone", "`fix: [US-7] - address review feedback`"});
}

TEST(Assignment, NamesThePlansFolderAsTheAgentSeesIt) {
  for (const Mode mode : {Mode::kImplement, Mode::kReview, Mode::kReviewFix}) {
    Told told(story("US-7", mode == Mode::kReviewFix ? rejected() : waiting()), mode);
    told.assignment.files_at = "plans/shop";
    expect_parts(told.text(), {"plans/shop/tasks.json"});
    EXPECT_EQ(told.text().find("ralph/tasks.json"), std::string::npos);
  }
}

TEST(PlanAssignment, AReviewIsToldWhatWasDoneToTheChecks) {
  Told told(story("US-7"), Mode::kReview);
  told.assignment.changed_checks = {"tests/a.py: changed; 1 assertion rewritten"};
  told.assignment.changed_checks_diff = "    tests/a.py\n    -assert 1\n";
  told.assignment.tampered = {"iteration 2: .git/hooks/pre-commit was made and put back"};
  told.assignment.added = told.tasks.verify_commands;
  expect_parts(told.text(), {"- tests/a.py: changed; 1 assertion rewritten\n", "    -assert 1\n",
                             "- iteration 2: .git/hooks/pre-commit was made and put back\n", "(added by an agent;"});
  told.assignment.mode = Mode::kImplement;
  EXPECT_EQ(told.text().find("pre-commit"), std::string::npos);
}

}  // namespace
}  // namespace ralph
