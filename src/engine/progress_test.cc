#include "engine/progress.h"

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

Progress after(const std::vector<record::Body>& bodies, Progress progress = {}) {
  for (const record::Body& body : bodies) progress = fold(std::move(progress), {0, WallTime{}, body});
  return progress;
}

record::AgentStarted agent_started(int attempt, Purpose purpose = Purpose::kWork) {
  record::AgentStarted started;
  started.attempt = attempt;
  started.purpose = purpose;
  return started;
}

record::AgentEnded agent_ended(std::string_view outcome, std::optional<std::string> response = {},
                               Purpose purpose = Purpose::kWork) {
  record::AgentEnded ended;
  ended.outcome = *from_word<TurnOutcome>(outcome);
  ended.response = std::move(response);
  ended.purpose = purpose;
  return ended;
}

record::GuardrailEnded guardrail(std::string_view outcome, std::string name, std::string action = "APPEND") {
  record::GuardrailEnded ended;
  ended.outcome = *from_word<CheckOutcome>(outcome);
  ended.fail_action = std::move(action);
  ended.feedback = outcome == "passed" ? "" : name + " said";
  ended.name = std::move(name);
  return ended;
}

record::AgentEnded review_said(std::string words) {
  record::AgentEnded ended = agent_ended("ok");
  ended.final_words = std::move(words);
  return ended;
}

std::vector<std::string> messages_of(const std::vector<Feedback>& feedback) {
  std::vector<std::string> messages;
  for (const Feedback& item : feedback) messages.push_back(item.message);
  return messages;
}

TEST(Progress, BeginsWithNothing) {
  const Progress progress;
  EXPECT_EQ(progress.iteration, 0);
  EXPECT_EQ(progress.attempts, 0);
  EXPECT_EQ(progress.stop_requests, 0);
  EXPECT_TRUE(progress.feedback.empty());
}

TEST(Progress, KeepsTheTurnsOutcomeAndAnswer) {
  const Progress progress = after({record::IterationStarted{2}, agent_started(1), agent_ended("ok", "DONE")});
  EXPECT_EQ(progress.iteration, 2);
  EXPECT_EQ(progress.attempts, 1);
  EXPECT_EQ(progress.turn_outcome, "ok");
  EXPECT_EQ(progress.response, "DONE");
}

TEST(Progress, ARetryReplacesTheAnswerOfTheAttemptBefore) {
  const Progress progress = after({record::IterationStarted{1}, agent_started(1), agent_ended("crashed", "DONE"),
                                   agent_started(2), agent_ended("ok")});
  EXPECT_EQ(progress.attempts, 2);
  EXPECT_EQ(progress.response, std::nullopt);
}

TEST(Progress, GuardrailsThatRunAgainReplaceTheirEarlierResults) {
  record::GuardrailStarted first, second;
  first.index = 1;
  second.index = 2;
  const Progress progress = after({record::IterationStarted{1}, first, guardrail("passed", "a"), second,
                                   guardrail("passed", "b"), agent_ended("ok", {}, Purpose::kCommitMessage), first,
                                   guardrail("failed", "a"), second, guardrail("passed", "b")});
  EXPECT_EQ(progress.guardrails_passed, 1);
  EXPECT_EQ(progress.guardrails_failed, std::vector<std::string>{"a"});
  EXPECT_EQ(messages_of(progress.collecting), std::vector<std::string>{"a said"});
}

TEST(Progress, AnAgentAskedForACommitMessageAnswersNothingElse) {
  const Progress progress =
      after({record::IterationStarted{1}, agent_started(1), agent_ended("ok", "NO"),
             agent_started(7, Purpose::kCommitMessage), agent_ended("crashed", "DONE", Purpose::kCommitMessage)});
  EXPECT_EQ(progress.attempts, 1);
  EXPECT_EQ(progress.response, "NO");
  EXPECT_EQ(progress.turn_outcome, "ok");
  EXPECT_EQ(progress.failed_turns_in_row, 0);
}

TEST(Progress, CountsFailedTurnsInARowAcrossIterations) {
  struct Row {
    std::vector<std::string> outcomes;
    int in_row;
  };
  const Row rows[] = {
      {{}, 0},
      {{"ok"}, 0},
      {{"crashed"}, 1},
      {{"crashed", "empty", "crashed"}, 3},
      {{"crashed", "ok"}, 0},
      {{"crashed", "ok", "empty"}, 1},
      {{"crashed", "timed_out"}, 0},
      {{"crashed", "idle"}, 0},
  };
  for (const Row& row : rows) {
    std::vector<record::Body> bodies;
    for (const std::string& outcome : row.outcomes) {
      bodies.push_back(record::IterationStarted{1});
      bodies.push_back(agent_ended(outcome));
    }
    EXPECT_EQ(after(bodies).failed_turns_in_row, row.in_row) << row.outcomes.size();
  }
}

TEST(Progress, CollectsWhatGuardrailsSay) {
  const Progress progress =
      after({record::IterationStarted{1}, guardrail("passed", "lint"), guardrail("failed", "test", "PREPEND"),
             guardrail("timed_out", "slow", "REPLACE"), guardrail("passed", "format"), guardrail("failed", "docs")});
  EXPECT_EQ(progress.guardrails_passed, 2);
  EXPECT_EQ(progress.guardrails_failed, (std::vector<std::string>{"test", "slow", "docs"}));
  ASSERT_EQ(messages_of(progress.collecting), (std::vector<std::string>{"test said", "slow said", "docs said"}));
  EXPECT_EQ(progress.collecting[0].action, FailAction::kPrepend);
  EXPECT_EQ(progress.collecting[1].action, FailAction::kReplace);
  EXPECT_EQ(progress.collecting[2].action, FailAction::kAppend);
  EXPECT_TRUE(progress.feedback.empty()) << "the iteration is not over";
}

TEST(Progress, KeepsTheFeedbackOfTheLastIterationOnly) {
  Progress progress = after({record::IterationStarted{1}, guardrail("failed", "test"), record::IterationEnded{1, 0},
                             record::IterationStarted{2}});
  EXPECT_EQ(messages_of(progress.feedback), std::vector<std::string>{"test said"});
  EXPECT_TRUE(progress.guardrails_failed.empty());
  progress = after({guardrail("failed", "lint"), record::IterationEnded{2, 0}}, progress);
  EXPECT_EQ(messages_of(progress.feedback), std::vector<std::string>{"lint said"});
  progress = after({record::IterationStarted{3}, guardrail("passed", "lint"), record::IterationEnded{3, 0}}, progress);
  EXPECT_TRUE(progress.feedback.empty());
}

TEST(Progress, AnIterationCutShortKeepsTheFeedbackOfTheOneBefore) {
  const Progress progress =
      after({record::IterationStarted{1}, guardrail("failed", "test"), record::IterationEnded{1, 0},
             record::IterationStarted{2}, guardrail("failed", "lint"), record::IterationStarted{2}});
  EXPECT_EQ(messages_of(progress.feedback), std::vector<std::string>{"test said"});
  EXPECT_TRUE(progress.collecting.empty());
}

TEST(Progress, AnIterationBeginsWithAFreshTurn) {
  const Progress progress = after({record::IterationStarted{1}, agent_started(3), agent_ended("ok", "DONE"),
                                   guardrail("passed", "test"), record::IterationStarted{2}});
  EXPECT_EQ(progress.iteration, 2);
  EXPECT_EQ(progress.attempts, 0);
  EXPECT_EQ(progress.turn_outcome, "");
  EXPECT_EQ(progress.response, std::nullopt);
  EXPECT_EQ(progress.guardrails_passed, 0);
}

TEST(Progress, AStopRequestIsNeverTakenBack) {
  EXPECT_EQ(after({record::SignalReceived{"SIGINT", 1}}).stop_requests, 1);
  EXPECT_EQ(after({record::SignalReceived{"SIGHUP", 2}, record::SignalReceived{"SIGINT", 1}}).stop_requests, 2);
  EXPECT_EQ(after({record::SignalReceived{"SIGINT", 1}, record::IterationStarted{2}}).stop_requests, 1);
}

TEST(Progress, APlansStoriesAreThoseOfTheLastCheck) {
  record::PlanChecked first, second;
  first.stories = 3;
  first.open = {"US-001", "US-002", "US-003"};
  second.stories = 4;
  second.done = 1;
  second.open = {"US-002 (needs_review)", "US-003", "US-004"};
  const Progress progress = after({first, record::IterationStarted{1}, record::PlanWork{}, second});
  EXPECT_EQ(progress.plan.stories, 4);
  EXPECT_EQ(progress.plan.done, 1);
  EXPECT_EQ(progress.plan.open, second.open);
}

TEST(Progress, PlanFeedbackFollowsTheFailuresOfTheChecks) {
  record::PlanChecked checked;
  checked.feedback = "ralph took that back";
  const Progress progress =
      after({record::IterationStarted{1}, guardrail("failed", "test"), checked, record::IterationEnded{1, 0}});
  EXPECT_EQ(messages_of(progress.feedback), (std::vector<std::string>{"test said", "ralph took that back"}));
  EXPECT_TRUE(
      after({record::IterationStarted{1}, record::PlanChecked{}, record::IterationEnded{1, 0}}).feedback.empty());
}

TEST(Progress, BlockedRequestsAreCounted) {
  record::SandboxNoted noted;
  noted.requests = 3;
  EXPECT_EQ(after({record::IterationStarted{1}, noted, noted}).totals.blocked, 6);
}

TEST(Progress, OnlyACommitIsACommit) {
  const auto done = [](std::string task) {
    record::ScmEnded ended;
    ended.task = std::move(task);
    ended.outcome = ScmOutcome::kDone;
    return ended;
  };
  record::AgentEnded asked = agent_ended("ok", {}, Purpose::kCommitMessage);
  asked.message = "Fix it";
  const Progress progress = after({record::IterationStarted{1}, asked, done("commit-graph write")});
  EXPECT_EQ(progress.totals.commits, 0);
  EXPECT_EQ(progress.scm.message, "Fix it");
  const Progress committed = after({done("commit --signoff")}, progress);
  EXPECT_EQ(committed.totals.commits, 1);
  EXPECT_EQ(committed.scm.message, "");
}

record::Record written_at(Milliseconds time, record::Body body, std::optional<Milliseconds> spent = {}) {
  record::Record record{0, WallTime(Milliseconds(1'794'774'153'123)) + time, std::move(body)};
  record.run_time = spent;
  return record;
}

TEST(Progress, TheTimeSpentIsWhatTheRunSaysAndNotTheTimeOfDay) {
  Progress progress = fold({}, written_at(0min, record::RunStarted{}, 0min));
  progress = fold(progress, written_at(10min, record::IterationStarted{1}, 10min));
  // Two hours of Ctrl-Z, or a clock that was set forward.
  progress = fold(progress, written_at(135min, agent_started(1), 15min));
  EXPECT_EQ(progress.run_time, 15min);
  EXPECT_EQ(progress.iteration_began, 10min);
}

TEST(Progress, InAnOlderJournalTheTimeOfDayHasToDo) {
  Progress progress = fold({}, written_at(0min, record::RunStarted{}));
  progress = fold(progress, written_at(10min, record::IterationStarted{1}));
  EXPECT_EQ(progress.run_time, 10min);
  progress = fold(progress, written_at(5min, agent_started(1)));  // set back
  EXPECT_EQ(progress.run_time, 10min);
  progress = fold(progress, written_at(9min, agent_started(2), 13min));  // continued by this version
  EXPECT_EQ(progress.run_time, 13min);
}

TEST(Progress, OtherRecordsLeaveItAsItIs) {
  const Progress progress = after({record::IterationStarted{4}, agent_started(1), agent_ended("ok", "NO"),
                                   record::ScmStarted{}, record::ScmEnded{}, record::ProcessesSwept{},
                                   record::Decided{}, record::Unknown{"later", {}}, record::RunEnded{}});
  EXPECT_EQ(progress.iteration, 4);
  EXPECT_EQ(progress.response, "NO");
  EXPECT_EQ(progress.guardrails_passed, 0);
}

record::Decided completion() {
  record::Decided complete;
  complete.decision = Action::kStop;
  complete.status = StopStatus::kComplete;
  complete.reason = "all is done";
  return complete;
}

// Records that anybody may have added to a journal after its seal.
TEST(Seal, AddedRecordsApproveCompleteAndHideNothing) {
  const Progress sealed = after({record::RunStarted{}, record::TriggersWatched{1, "known"},
                                 record::FilesWatched{1, 1, "watched"}, record::IterationStarted{1}});
  record::RunEnded ended;
  ended.status = StopStatus::kLimit;
  record::PlanChecked judged;
  judged.judged = true;
  judged.iteration = 1;
  judged.pending.emplace().story = "US-001";
  const Progress all = after(
      {agent_started(1), review_said("approved"), judged, completion(), record::FilesWatched{1, 1, "other"}, ended},
      sealed);
  record::RunResumed resumed;
  list_unsealed_claims(resumed, all, sealed);
  EXPECT_EQ(resumed.disbelieved,
            (std::vector<std::string>{"words", "completed", "judged", "pending", "watched", "triggers"}));
  const Progress now = after({resumed}, all);
  EXPECT_EQ(now.final_words, "");
  EXPECT_TRUE(now.turn_was_cut_off());  // the review is done again
  EXPECT_EQ(now.completed, "");
  EXPECT_FALSE(now.iteration_is_judged());
  EXPECT_FALSE(now.plan.pending);
  EXPECT_EQ(now.watch.manifest, "watched");
  EXPECT_EQ(now.watch.triggers, "known");
}

TEST(Seal, WhatItVouchesForStays) {
  const Progress sealed = after({record::IterationStarted{1}, agent_started(1), review_said("approved")});
  const Progress all = after({guardrail("passed", "make test")}, sealed);
  record::RunResumed resumed;
  list_unsealed_claims(resumed, all, sealed);
  EXPECT_TRUE(resumed.disbelieved.empty());
  EXPECT_EQ(after({resumed}, all).final_words, "approved");
}

// A run killed between a decision and its seal makes the decision again, in the same iteration.
TEST(Seal, AnIterationThatACompletionEndedIsOpenAgain) {
  const Progress sealed = after({record::IterationStarted{1}, agent_started(1), review_said("approved")});
  const Progress all = after({completion(), record::IterationEnded{1}}, sealed);
  ASSERT_FALSE(all.iteration_open);
  record::RunResumed resumed;
  list_unsealed_claims(resumed, all, sealed);
  EXPECT_EQ(resumed.disbelieved, (std::vector<std::string>{"completed", "ended"}));
  const Progress now = after({resumed}, all);
  EXPECT_TRUE(now.iteration_open && now.turn_is_over());
  EXPECT_EQ(now.iteration, 1);
  // Without a completion, the end is accepted: the next iteration begins.
  const Progress goes_on = after({record::IterationEnded{1}}, sealed);
  record::RunResumed later;
  list_unsealed_claims(later, goes_on, sealed);
  EXPECT_TRUE(later.disbelieved.empty());
}

// A run killed between the record of its end and its seal.
TEST(Seal, ARunThatWasDecidedToBeCompleteStaysSo) {
  record::RunEnded ended;
  ended.status = StopStatus::kComplete;
  const Progress sealed =
      after({record::IterationStarted{1}, agent_started(1), completion(), record::IterationEnded{1}});
  const Progress all = after({ended}, sealed);
  record::RunResumed resumed;
  list_unsealed_claims(resumed, all, sealed);
  EXPECT_TRUE(resumed.disbelieved.empty());
  EXPECT_EQ(after({resumed}, all).completed, "all is done");
  record::Decided complete = completion();
  complete.rule = "task_done";
  EXPECT_EQ(after({complete, ended, resumed}).completed, "") << "somebody has removed DONE";
}

}  // namespace
}  // namespace ralph
