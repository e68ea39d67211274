#include "plan/transitions.h"

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"
#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

using enum ReviewStatus;

// A list before and after an iteration, and the expected problems.
struct Row {
  const char* situation;
  Mode mode;
  std::vector<Story> before, after;
  std::vector<const char*> said;  // parts of the expected problems, one each; empty: allowed
  const char* story = "US-1";     // the given one
};

ReviewRules rules_for(const Row& row) {
  return {row.mode, row.story, false, 5};
}

void expect_row(const Row& row) {
  const auto problems = judge_transitions(before_from(list(row.before)), list(row.after), rules_for(row)).problems;
  EXPECT_EQ(problems.size(), row.said.size()) << row.situation << "\n" << messages_of(problems);
  for (size_t i = 0; i < std::min(problems.size(), row.said.size()); ++i) {
    EXPECT_EQ(problems[i].check, Check::kTransitions);
    EXPECT_TRUE(says(problems[i].message, row.said[i])) << row.situation << "\n" << messages_of(problems);
  }
}

TEST(JudgeTransitions, FollowsTheTableOfTheSeed) {
  const Review passing{true, kNone, 0, ""}, just_approved{false, kApproved, 0, ""};
  const Row rows[] = {
      {"implement sets passes",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1", passing)},
       {"Implement iterations cannot set passes=true"}},
      {"implement approves",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1", just_approved)},
       {"Story US-1 had illegal transition: reviewStatus null → approved."}},
      {"implement passes and approves, so that check 2 is content",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1", approved(0))},
       {"Only review iterations may approve"}},
      {"implement counts a review",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1", {false, kNone, 1, ""})},
       {"Implement iterations cannot set passes=true, approve stories or increment reviewCount"}},
      {"implement submits and counts",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1", waiting(1))},
       {"reviewStatus null → needs_review, reviewCount 0 → 1"}},
      {"implement submits", Mode::kImplement, {story("US-1")}, {story("US-1", waiting())}, {}},
      {"implement does nothing", Mode::kImplement, {story("US-1")}, {story("US-1")}, {}},
      {"implement adds a story", Mode::kImplement, {story("US-1")}, {story("US-1"), story("US-2")}, {}},
      {"implement adds one that passes",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1"), story("US-2", passing)},
       {"New stories must start incomplete"}},
      {"implement adds one that is approved",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1"), story("US-2", approved())},
       {"Story US-2 began with passes true, reviewStatus approved"}},
      {"implement adds one that awaits its review",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1"), story("US-2", waiting())},
       {"New stories must start incomplete"}},
      {"implement adds one that was counted",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1"), story("US-2", {false, kNone, 1, ""})},
       {"New stories must start incomplete"}},
      {"implement submits two",
       Mode::kImplement,
       {story("US-1"), story("US-2")},
       {story("US-1", waiting()), story("US-2", waiting())},
       {"An implement iteration may submit one story only; story US-2 was changed besides US-1."}},
      {"implement submits what waits for another",
       Mode::kImplement,
       {story("US-1"), story("US-2", {}, {"US-1"})},
       {story("US-1"), story("US-2", waiting(), {"US-1"})},
       {"Story US-2 was submitted, but depends on US-1: not all of that is approved."}},
      {"implement takes the dependency away and submits",
       Mode::kImplement,
       {story("US-1"), story("US-2", {}, {"US-1"})},
       {story("US-1"), story("US-2", waiting())},
       {"Story US-2 was submitted, but depends on US-1"}},
      {"implement submits what depends on approved work",
       Mode::kImplement,
       {story("US-1", approved()), story("US-2", {}, {"US-1"})},
       {story("US-1", approved()), story("US-2", waiting(), {"US-1"})},
       {}},
      {"implement takes an approval back",
       Mode::kImplement,
       {story("US-1"), story("US-2", approved())},
       {story("US-1"), story("US-2")},
       {"passes true → false, reviewStatus approved → null, reviewCount 1 → 0"}},
      {"implement changes a feedback",
       Mode::kImplement,
       {story("US-1")},
       {story("US-1", {false, kNone, 0, "good!"})},
       {"reviewFeedback was changed"}},

      {"review approves", Mode::kReview, {story("US-1", waiting(1))}, {story("US-1", approved(2))}, {}},
      {"review asks for changes", Mode::kReview, {story("US-1", waiting(1))}, {story("US-1", rejected(2))}, {}},
      {"review adds a story besides",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", rejected(2)), story("US-2")},
       {}},
      {"review decides nothing",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", waiting(1))},
       {"a review must increment reviewCount of story US-1"}},
      {"review approves without counting",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", approved(1))},
       {"a review must increment reviewCount by 1, from 1 to 2"}},
      {"review counts twice",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", approved(3))},
       {"reviewCount 1 → 3; a review must increment reviewCount by 1"}},
      {"review counts backwards",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", approved(0))},
       {"a review must increment reviewCount by 1"}},
      {"review counts and decides nothing",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", waiting(2))},
       {"a review ends in reviewStatus approved with passes true, or in changes_requested"}},
      {"review asks for changes and says none",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", rejected(2, " \n"))},
       {"reviewFeedback is empty: say what has to be fixed and where"}},
      {"review approves and does not pass",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", {false, kApproved, 2, ""})},
       {"a review ends in reviewStatus approved with passes true"}},
      {"review passes and does not approve",
       Mode::kReview,
       {story("US-1", waiting(1))},
       {story("US-1", {true, kChangesRequested, 2, "x"})},
       {"a review ends in reviewStatus approved with passes true"}},
      {"review approves two",
       Mode::kReview,
       {story("US-1", waiting()), story("US-2", waiting())},
       {story("US-1", approved()), story("US-2", approved())},
       {"A review may only modify one story; story US-2 was changed besides US-1."}},
      {"review touches another story",
       Mode::kReview,
       {story("US-1", waiting()), story("US-2")},
       {story("US-1", approved()), story("US-2", waiting())},
       {"illegal transition on story US-2: reviewStatus null → needs_review; only a story whose reviewStatus is "
        "needs_review can be reviewed"}},
      {"review approves what was never submitted",
       Mode::kReview,
       {story("US-1", waiting()), story("US-2")},
       {story("US-1", waiting()), story("US-2", approved())},
       {"illegal transition on story US-2"}},
      {"review approves what it asked to change before",
       Mode::kReview,
       {story("US-1", waiting()), story("US-2", rejected(1))},
       {story("US-1", waiting()), story("US-2", approved(2))},
       {"only a story whose reviewStatus is needs_review can be reviewed"}},
      {"review reviews another story that waits",
       Mode::kReview,
       {story("US-1", waiting()), story("US-2", waiting())},
       {story("US-1", waiting()), story("US-2", approved())},
       {}},

      {"review-fix passes",
       Mode::kReviewFix,
       {story("US-1", rejected())},
       {story("US-1", {true, kChangesRequested, 1, "mend it"})},
       {"Review-fix iterations cannot approve stories"}},
      {"review-fix approves",
       Mode::kReviewFix,
       {story("US-1", rejected())},
       {story("US-1", approved())},
       {"Story US-1 must go back to needs_review for re-review. Illegal transition: passes false → true, reviewStatus "
        "changes_requested → approved"}},
      {"review-fix submits again", Mode::kReviewFix, {story("US-1", rejected())}, {story("US-1", waiting(1))}, {}},
      {"review-fix submits again and leaves the feedback",
       Mode::kReviewFix,
       {story("US-1", rejected())},
       {story("US-1", {false, kNeedsReview, 1, "mend it"})},
       {}},
      {"review-fix counts",
       Mode::kReviewFix,
       {story("US-1", rejected())},
       {story("US-1", waiting(2))},
       {"Review-fix iterations cannot approve stories or increment reviewCount"}},
      {"review-fix lowers the count",
       Mode::kReviewFix,
       {story("US-1", rejected(4))},
       {story("US-1", waiting(0))},
       {"reviewCount 4 → 0"}},
      {"review-fix clears the feedback and no more",
       Mode::kReviewFix,
       {story("US-1", rejected())},
       {story("US-1", rejected(1, ""))},
       {"Illegal transition: reviewFeedback was changed."}},
      {"review-fix submits two",
       Mode::kReviewFix,
       {story("US-1", rejected()), story("US-2", rejected())},
       {story("US-1", waiting(1)), story("US-2", waiting(1))},
       {"A review-fix iteration may resubmit one story only"}},
      {"review-fix submits what was never rejected",
       Mode::kReviewFix,
       {story("US-1", rejected()), story("US-2")},
       {story("US-1", rejected()), story("US-2", waiting())},
       {"Illegal transition: reviewStatus null → needs_review"}},
      {"review-fix does nothing", Mode::kReviewFix, {story("US-1", rejected())}, {story("US-1", rejected())}, {}},
  };
  for (const Row& row : rows) expect_row(row);
}

// The four steps of a story, restated independently: what the seed allows, one sentence each.
bool may_happen(Mode mode, const Review& was, const Review& is) {
  if (was.passes) return false;  // already done
  switch (mode) {
    case Mode::kImplement:
      return was.status == kNone && is.status == kNeedsReview && !is.passes && is.count == was.count;
    case Mode::kReviewFix:
      return was.status == kChangesRequested && is.status == kNeedsReview && !is.passes && is.count == was.count;
    case Mode::kReview:
      break;
  }
  if (was.status != kNeedsReview || is.count != was.count + 1) return false;
  return is.passes ? is.status == kApproved : is.status == kChangesRequested && !is.feedback.empty();
}

TEST(JudgeTransitions, AllowsTheFourStepsAndNoOtherChange) {
  int legal = 0, illegal = 0;
  for (const Mode mode : {Mode::kImplement, Mode::kReview, Mode::kReviewFix}) {
    for (const ReviewStatus from : {kNone, kNeedsReview, kChangesRequested, kApproved}) {
      for (const ReviewStatus to : {kNone, kNeedsReview, kChangesRequested, kApproved}) {
        for (const bool passed : {false, true}) {
          for (const bool passes : {false, true}) {
            for (const int delta : {-1, 0, 1, 2}) {
              for (const char* feedback : {"", "mend it"}) {
                const Review was{passed, from, 1, ""}, is{passes, to, 1 + delta, feedback};
                const Judgement judgement = judge_transitions(before_from(list({story("US-1", was)})),
                                                              list({story("US-1", is)}), {mode, "US-1"});
                const std::string what = fmt::format("{}: {} {} -> {} {} {:+} '{}'", to_string(mode), to_string(from),
                                                     passed, to_string(to), passes, delta, feedback);
                const bool allowed = may_happen(mode, was, is), changed = was != is;
                EXPECT_EQ(!judgement.illegal.empty(), changed && !allowed) << what;
                EXPECT_EQ(judgement.moved, allowed ? "US-1" : "") << what;
                EXPECT_EQ(judgement.step == StoryStep::kNone, !allowed) << what;
                EXPECT_EQ(judgement.no_verdict, !changed && mode == Mode::kReview) << what;
                EXPECT_EQ(judgement.problems.empty(), allowed || (!changed && mode != Mode::kReview)) << what;
                ++(allowed ? legal : illegal);
              }
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(legal, 7);  // two feedback texts for each step, except that a request for changes must have one
  EXPECT_EQ(illegal, 3 * 4 * 4 * 2 * 2 * 4 * 2 - 7);
}

TEST(JudgeTransitions, NamesTheStepThatWasTaken) {
  const auto step = [](Mode mode, Review was, Review is) {
    return judge_transitions(before_from(list({story("A", std::move(was))})), list({story("A", std::move(is))}),
                             {mode, "A"})
        .step;
  };
  EXPECT_EQ(step(Mode::kImplement, kOpen, waiting()), "submitted");
  EXPECT_EQ(step(Mode::kReview, waiting(), approved()), "approved");
  EXPECT_EQ(step(Mode::kReview, waiting(), rejected()), "changes_requested");
  EXPECT_EQ(step(Mode::kReviewFix, rejected(), waiting(1)), "resubmitted");
}

TEST(JudgeTransitions, OfSeveralStoriesTheGivenOneMayMoveAndElseTheFirst) {
  const std::vector<Story> before = {story("A", waiting()), story("B", waiting()), story("C", waiting())};
  const std::vector<Story> after = {story("A", approved()), story("B", approved()), story("C", approved())};
  const auto moved = [&](const char* given) {
    const Judgement judgement = judge_transitions(before_from(list(before)), list(after), {Mode::kReview, given});
    EXPECT_EQ(judgement.illegal.size(), 2U);
    EXPECT_EQ(judgement.problems.size(), 2U);
    return judgement.moved;
  };
  EXPECT_EQ(moved("B"), "B");
  EXPECT_EQ(moved("C"), "C");
  EXPECT_EQ(moved("Z"), "A");
}

TEST(JudgeTransitions, AnIllegalStoryDoesNotKeepAnotherFromItsStep) {
  const Judgement judgement =
      judge_transitions(before_from(list({story("A"), story("B")})),
                        list({story("A", approved()), story("B", waiting())}), {Mode::kImplement, "B"});
  EXPECT_EQ(judgement.moved, "B");
  EXPECT_EQ(judgement.illegal, std::vector<std::string>{"A"});
}

TEST(JudgeTransitions, KnowsOnlyWhatAMarkerSays) {
  Before before = before_from(list({story("A", rejected(1, "long ago"))}));
  before.stories.at("A").complete = false;
  before.stories.at("A").review.feedback.clear();
  EXPECT_TRUE(
      judge_transitions(before, list({story("A", rejected(1, "anything"))}), {Mode::kReviewFix, "A"}).problems.empty());
  EXPECT_FALSE(
      judge_transitions(before, list({story("A", rejected(2, "anything"))}), {Mode::kReviewFix, "A"}).problems.empty());
}

TEST(JudgeTransitions, TenThousandStoriesThatAllMovedAreToldAtOnce) {
  std::vector<Story> before, after;
  for (int i = 0; i < 10'000; ++i) {
    before.push_back(story(std::to_string(i), waiting()));
    after.push_back(story(std::to_string(i), approved()));
  }
  const Judgement judgement = judge_transitions(before_from(list(before)), list(after), {Mode::kReview, "9999"});
  EXPECT_EQ(judgement.moved, "9999");
  EXPECT_EQ(judgement.illegal.size(), 9'999U);
}

TEST(JudgeInvariants, FollowsTheTableOfTheSeed) {
  struct InvariantRow {
    const char* situation;
    Review review;
    const char* said;  // empty: no problem
  };
  const InvariantRow rows[] = {
      {"passes, never reviewed",
       {true, kNone, 0, ""},
       "Story US-1 has passes=true but reviewStatus is 'null', not 'approved'. Only review iterations may approve "
       "stories. Set passes back to false or complete the review cycle."},
      {"passes, awaits its review", {true, kNeedsReview, 0, ""}, "reviewStatus is 'needs_review', not 'approved'"},
      {"passes, changes requested",
       {true, kChangesRequested, 1, "x"},
       "reviewStatus is 'changes_requested', not 'approved'"},
      {"passes and is approved", approved(), ""},
      {"changes requested without a word", rejected(1, ""), "feedback is required"},
      {"changes requested with blanks", rejected(1, " \t\n"), "feedback is required"},
      {"changes requested with words", rejected(), ""},
      {"approved, does not pass", {false, kApproved, 1, ""}, "out of sync"},
      {"open", {}, ""},
      {"awaits its review", waiting(), ""},
      {"as many reviews as the cap", rejected(5), ""},
      {"one more", rejected(6), ""},
      {"two more, and approved: the cap was higher then", approved(7), ""},
      {"two more", rejected(7), "Story US-1 has reviewCount 7, which is more than the review cap of 5 allows"},
  };
  for (const InvariantRow& row : rows) {
    const auto problems = judge_invariants(list({story("US-1", row.review)}), 5);
    const bool fine = std::string_view(row.said).empty();
    EXPECT_EQ(problems.size(), fine ? 0U : 1U) << row.situation << "\n" << messages_of(problems);
    EXPECT_TRUE(fine || says(messages_of(problems), row.said)) << row.situation << "\n" << messages_of(problems);
    for (const PlanProblem& problem : problems) {
      EXPECT_EQ(problem.check, Check::kInvariants);
      EXPECT_EQ(problem.story, "US-1");
    }
  }
}

TEST(JudgeInvariants, ANegativeCountIsRefusedByTheSchemaAlready) {
  const auto problems = read_tasks(text_of(list({story("US-1", waiting(-1))})), "tasks.json").problems;
  EXPECT_TRUE(says(messages_of(problems), "reviewCount: expected a whole number of at least 0, found -1"));
}

TEST(JudgeInvariants, ReviewsAreNotCountedWhereTheStateBeforeIsKnownOrThereIsNoCap) {
  const StoryList tasks = list({story("A", waiting(9))});
  Before before = before_from(list({story("A", rejected(9))}));
  EXPECT_EQ(judge_invariants(tasks, 2).size(), 1U);
  EXPECT_TRUE(judge_invariants(tasks, std::nullopt).empty());
  EXPECT_TRUE(judge_invariants(tasks, 2, &before).empty());
  before.stories.at("A").complete = false;  // as known from a marker
  EXPECT_EQ(judge_invariants(tasks, 2, &before).size(), 1U);
}

TEST(JudgeTransitions, OutsideOfAnIterationNoStepIsLegal) {
  for (const Mode mode : {Mode::kImplement, Mode::kReview, Mode::kReviewFix}) {
    const ReviewRules rules{mode, "A", false, 5, true};
    const StoryList before = list({story("A"), story("B", waiting()), story("C", rejected())});
    const Judgement still = judge_transitions(before_from(before), before, rules);
    EXPECT_TRUE(still.problems.empty() && !still.no_verdict) << messages_of(still.problems);
    const StoryList after = list({story("A", waiting()), story("B", approved()), story("C", waiting(1)), story("D")});
    const Judgement judged = judge_transitions(before_from(before), after, rules);
    EXPECT_EQ(judged.illegal, (std::vector<std::string>{"A", "B", "C"}));
    EXPECT_TRUE(judged.moved.empty());
    EXPECT_TRUE(says(messages_of(judged.problems), "Only iterations may change review fields"))
        << messages_of(judged.problems);
  }
}

TEST(JudgeInvariants, AHugeCapIsNoTrap) {
  EXPECT_TRUE(judge_invariants(list({story("A", waiting(9))}), std::numeric_limits<std::int64_t>::max()).empty());
}

TEST(JudgePins, FollowsItsTable) {
  Story fewer = story("US-1"), more = story("US-1"), other = story("US-1"), swapped = story("US-1");
  fewer.criteria = {"it works"};
  more.criteria = {"it is fast", "it is tested", "it works"};
  other.criteria = {"it works", "it is tested, mostly"};
  swapped.criteria = {"it is tested", "it works"};
  Story renamed = story("US-1"), described = story("US-1");
  renamed.title = "less";
  described.description = "less";
  StoryList other_commands = list({story("US-1")}), more_commands = other_commands, no_commands = other_commands,
            other_branch = other_commands;
  other_commands.verify_commands = {"true"};
  more_commands.verify_commands = {"make lint", "make test"};
  no_commands.verify_commands = {};
  other_branch.branch = "main";
  struct PinRow {
    const char* situation;
    StoryList after;
    std::vector<const char*> said;
  };
  const PinRow rows[] = {
      {"nothing changed", list({story("US-1")}), {}},
      {"a story was added", list({story("US-1"), story("US-2")}), {}},
      {"the story is gone",
       list({story("US-2")}),
       {"Stories may be added, never deleted or renamed. Story US-1 is gone."}},
      {"a criterion is gone", list({fewer}), {"Story US-1 lost \"it is tested\""}},
      {"criteria were added", list({more}), {}},
      {"a criterion was watered down", list({other}), {"Acceptance criteria may be added, never removed or changed"}},
      {"criteria changed places", list({swapped}), {}},
      {"it has another title", list({renamed}), {"The title of story US-1 is pinned; was: The title of US-1"}},
      {"it is described otherwise", list({described}), {"The description of story US-1 is pinned; was: "}},
      {"the commands are other ones", other_commands, {"\"make test\" is gone"}},
      {"commands were added", more_commands, {}},
      {"there are no commands", no_commands, {"verifyCommands may be added, never removed or changed"}},
      {"the branch is another", other_branch, {"branchName was changed from \"ralph/shop\" to \"main\""}},
  };
  for (const PinRow& row : rows) {
    const auto problems = judge_pins(before_from(list({story("US-1")})), row.after);
    ASSERT_EQ(problems.size(), row.said.size()) << row.situation << "\n" << messages_of(problems);
    for (size_t i = 0; i < problems.size(); ++i)
      EXPECT_TRUE(says(problems[i].message, row.said[i])) << row.situation << "\n" << messages_of(problems);
  }
}

TEST(JudgePins, WhatAMarkerDoesNotTellIsNotPinned) {
  Before before = before_from(list({story("A"), story("B")}));
  before.verify_commands.reset();
  before.branch.reset();
  before.stories.at("A").complete = false;
  before.stories.at("A").criteria.clear();
  StoryList after = list({story("A")});
  after.branch = "main";
  after.verify_commands = {};
  const auto problems = judge_pins(before, after);
  ASSERT_EQ(problems.size(), 1U) << messages_of(problems);
  EXPECT_EQ(problems[0].story, "B");
}

TEST(MissingFrom, KeepsTheOrderAndTakesNoTimeForManyTexts) {
  EXPECT_EQ(missing_from({"a", "b", "c"}, {"b"}), (std::vector<std::string>{"a", "c"}));
  EXPECT_TRUE(missing_from({}, {"b"}).empty());
  std::vector<std::string> many;
  for (int i = 0; i < 200'000; ++i) many.push_back(std::to_string(i));
  EXPECT_TRUE(missing_from(many, many).empty());
  const std::vector<std::string> all_but_one(many.begin() + 1, many.end());
  EXPECT_EQ(missing_from(many, all_but_one), std::vector<std::string>{"0"});
}

}  // namespace
}  // namespace ralph
