#include "loop/decide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ralph {
namespace {

using namespace std::chrono_literals;

// One situation and what has to come of it.
struct Row {
  const char* situation;
  Moment moment;
  Progress progress;
  const char* rule;
  Action action;
  StopStatus status = StopStatus::kNone;
  Policy policy{};
  Milliseconds run_time{0}, step_time{0}, quiet_time{0}, step_limit{0};
};

Progress at(int iteration) {
  Progress progress;
  progress.iteration = iteration;
  return progress;
}

Progress answered(int iteration, std::optional<std::string> response, std::string outcome = "ok") {
  Progress progress = at(iteration);
  progress.attempts = 1;
  progress.turn_outcome = std::move(outcome);
  progress.response = std::move(response);
  return progress;
}

Progress failing(Progress progress, int passed = 0) {
  progress.guardrails_failed = {"make test"};
  progress.guardrails_passed = passed;
  return progress;
}

Progress asked_to_stop(Progress progress, int requests) {
  progress.stop_requests = requests;
  return progress;
}

Progress crashed(int iteration, int attempts, const char* outcome = "crashed") {
  Progress progress = answered(iteration, "DONE", outcome);
  progress.attempts = attempts;
  progress.failed_turns_in_row = attempts;
  return progress;
}

Policy with_run_limit(Milliseconds limit) {
  Policy policy;
  policy.run_time_limit = limit;
  return policy;
}

Policy with_idle_limit(Milliseconds limit) {
  Policy policy;
  policy.agent_idle_limit = limit;
  return policy;
}

std::vector<Row> table() {
  using enum Moment;
  using enum Action;
  using enum StopStatus;
  return {
      {"a fresh run may begin", kBeforeIteration, at(0), "iteration_may_begin", kContinue},
      {"a resumed run whose iterations are spent may not", kBeforeIteration, at(10), "iterations_spent", kStop, kLimit},
      {"a stop request before an iteration", kBeforeIteration, asked_to_stop(at(1), 1), "stop_requested", kStop, kInterrupted},
      {"time over before an iteration", kBeforeIteration, at(1), "run_time_spent", kStop, kLimit, with_run_limit(60s), 60s},

      {"an agent that works goes on", kDuringTurn, at(1), "running", kContinue},
      {"the first stop request lets it finish", kDuringTurn, asked_to_stop(at(1), 1), "running", kContinue},
      {"the second ends it", kDuringTurn, asked_to_stop(at(1), 2), "stop_demanded", kEndNow},
      {"the second ends a guardrail too", kDuringCheck, asked_to_stop(at(1), 2), "stop_demanded", kEndNow},
      {"an agent within its time", kDuringTurn, at(1), "running", kContinue, kNone, {}, 9s, 9s, 0s, 10s},
      {"an agent over its time", kDuringTurn, at(1), "step_time_spent", kEndNow, kNone, {}, 10s, 10s, 0s, 10s},
      {"a guardrail over its time", kDuringCheck, at(1), "step_time_spent", kEndNow, kNone, {}, 10s, 10s, 0s, 10s},
      {"an agent that was quiet for long", kDuringTurn, at(1), "agent_idle", kEndNow, kNone, with_idle_limit(5s), 9s, 9s, 5s},
      {"a guardrail may be quiet", kDuringCheck, at(1), "running", kContinue, kNone, with_idle_limit(5s), 9s, 9s, 9s},
      {"the run's time is over while the agent works", kDuringTurn, at(1), "run_time_spent_while_running", kEndNow, kNone,
       with_run_limit(60s), 60s},

      {"a turn that went well leads to the guardrails", kAfterTurn, answered(1, "DONE"), "turn_ended", kContinue},
      {"a crash is tried again", kAfterTurn, crashed(1, 1), "agent_failed_retry", kRetry},
      {"and again, three times", kAfterTurn, crashed(1, 3), "agent_failed_retry", kRetry},
      {"then its iteration is spent", kAfterTurn, crashed(1, 4), "turn_ended", kContinue},
      {"silence is tried again", kAfterTurn, crashed(1, 1, "empty"), "agent_failed_retry", kRetry},
      {"a timed-out turn is not: its work is checked", kAfterTurn, crashed(1, 1, "timed_out"), "turn_ended", kContinue},
      {"no retry after a stop request", kAfterTurn, asked_to_stop(crashed(1, 1), 1), "stop_requested", kStop, kInterrupted},
      {"no retry when the time is over", kAfterTurn, crashed(1, 1), "run_time_spent", kStop, kLimit, with_run_limit(60s), 61s},
      {"a stop request keeps even a good turn from going on", kAfterTurn, asked_to_stop(answered(1, "DONE"), 1),
       "stop_requested", kStop, kInterrupted},

      {"one step follows another", kBetweenSteps, answered(1, "DONE"), "step_ended", kContinue},
      {"unless a stop was requested", kBetweenSteps, asked_to_stop(answered(1, "DONE"), 1), "stop_requested", kStop, kInterrupted},

      {"all passed and answered: complete", kAfterChecks, answered(1, "DONE"), "complete", kStop, kComplete},
      {"case does not matter", kAfterChecks, answered(1, "done"), "complete", kStop, kComplete},
      {"nor do blanks around it", kAfterChecks, answered(1, " Done "), "complete", kStop, kComplete},
      {"complete in the last allowed iteration is complete", kAfterChecks, answered(10, "DONE"), "complete", kStop, kComplete},
      {"complete although the time has just run out", kAfterChecks, answered(1, "DONE"), "complete", kStop, kComplete,
       with_run_limit(60s), 61s},
      {"a failing guardrail outranks the answer", kAfterChecks, failing(answered(1, "DONE")), "checks_failed", kContinue},
      {"one failing among passing ones does too", kAfterChecks, failing(answered(1, "DONE"), 3), "checks_failed", kContinue},
      {"a failing guardrail in the last iteration is the limit", kAfterChecks, failing(answered(10, "DONE")),
       "iterations_spent", kStop, kLimit},
      {"another answer is no completion", kAfterChecks, answered(1, "ALMOST DONE"), "not_answered", kContinue},
      {"no answer is no completion", kAfterChecks, answered(1, std::nullopt), "not_answered", kContinue},
      {"an empty answer is no completion", kAfterChecks, answered(1, ""), "not_answered", kContinue},
      {"a crashed turn's answer does not count", kAfterChecks, crashed(1, 4), "not_answered", kContinue},
      {"a timed-out turn's answer does not count", kAfterChecks, crashed(1, 1, "timed_out"), "not_answered", kContinue},
      {"the last iteration without an answer is the limit", kAfterChecks, answered(10, std::nullopt), "iterations_spent",
       kStop, kLimit},
      {"a stop request outranks completion", kAfterChecks, asked_to_stop(answered(1, "DONE"), 1), "stop_requested", kStop,
       kInterrupted},
      {"time over after the checks", kAfterChecks, failing(answered(1, "DONE")), "run_time_spent", kStop, kLimit,
       with_run_limit(60s), 61s},
  };
}

TEST(Decide, FollowsItsTable) {
  for (const Row& row : table()) {
    const Decision decision =
        decide(row.policy, row.progress, {row.moment, row.run_time, row.step_time, row.quiet_time, row.step_limit});
    EXPECT_EQ(decision.rule, row.rule) << row.situation;
    EXPECT_EQ(decision.action, row.action) << row.situation;
    EXPECT_EQ(decision.status, row.status) << row.situation;
  }
}

TEST(Decide, EveryRuleIsReachedByTheTable) {
  std::set<std::string_view> reached;
  for (const Row& row : table()) reached.insert(row.rule);
  for (std::string_view name : rule_names()) EXPECT_TRUE(reached.contains(name)) << name;
}

TEST(Decide, EveryStopHasAReason) {
  for (const Row& row : table()) {
    const Decision decision =
        decide(row.policy, row.progress, {row.moment, row.run_time, row.step_time, row.quiet_time, row.step_limit});
    if (decision.action == Action::kStop || decision.action == Action::kEndNow || decision.action == Action::kRetry) {
      EXPECT_FALSE(decision.reason.empty()) << row.situation;
    }
  }
}

TEST(Decide, BackOffDoublesAndIsBounded) {
  Policy policy;
  policy.retry_attempts = 100;
  std::vector<long long> delays;
  for (int attempt = 1; attempt <= 8; ++attempt) {
    delays.push_back(decide(policy, crashed(1, attempt), {Moment::kAfterTurn}).delay.count());
  }
  EXPECT_EQ(delays, (std::vector<long long>{2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000}));
}

TEST(Decide, TheLimitSaysWhatIsMissing) {
  Progress progress = failing(answered(10, "DONE"));
  progress.guardrails_failed = {"make lint", "make test"};
  EXPECT_EQ(decide({}, progress, {Moment::kAfterChecks}).reason,
            "10 iterations done and not complete: make lint and make test still fail");
  EXPECT_EQ(decide({}, answered(10, "NO"), {Moment::kAfterChecks}).reason,
            "10 iterations done and not complete: the agent never answered \"DONE\": it answered \"NO\"");
}

TEST(Decide, CompletionNamesWhatWasProved) {
  Progress progress = answered(2, "done");
  progress.guardrails_passed = 2;
  EXPECT_EQ(decide({}, progress, {Moment::kAfterChecks}).reason,
            "the agent answered \"done\" and all 2 guardrails passed");
}

TEST(TimeUntilChange, IsTheSoonestLimitOrNever) {
  Policy policy;
  EXPECT_EQ(time_until_change(policy, {Moment::kDuringTurn}), std::nullopt);
  policy.agent_idle_limit = 10s;
  policy.run_time_limit = 100s;
  EXPECT_EQ(time_until_change(policy, {Moment::kDuringTurn, 95s, 0s, 2s}), Milliseconds(5000));
  EXPECT_EQ(time_until_change(policy, {Moment::kDuringTurn, 50s, 0s, 2s}), Milliseconds(8000));
  EXPECT_EQ(time_until_change(policy, {Moment::kDuringTurn, 50s, 0s, 12s}), Milliseconds(0));
  EXPECT_EQ(time_until_change(policy, {Moment::kDuringCheck, 50s, 3s, 12s, 4s}), Milliseconds(1000));
}

TEST(ExitCodes, AreTheDocumentedOnes) {
  EXPECT_EQ(exit_code_of(StopStatus::kComplete), 0);
  EXPECT_EQ(exit_code_of(StopStatus::kLimit), 1);
  EXPECT_EQ(exit_code_of(StopStatus::kFatal), 2);
  EXPECT_EQ(exit_code_of(StopStatus::kWaiting), 3);
  EXPECT_EQ(exit_code_of(StopStatus::kInterrupted), 130);
}

}  // namespace
}  // namespace ralph
