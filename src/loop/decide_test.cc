#include "loop/decide.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace ralph {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{Milliseconds(1'794'800'000'000)};

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
  int tools_running = 0;
  std::optional<Milliseconds> since_result{};
  double turn_cost_usd = 0;
  std::int64_t turn_tokens = 0;

  Observation observation() const {
    return {moment,       run_time,      step_time,   quiet_time, step_limit, tools_running,
            since_result, turn_cost_usd, turn_tokens, kNow,       0.5};
  }
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
  progress.failed_attempts = attempts;
  progress.failed_turns_in_row = attempts;
  return progress;
}

Progress failed_with(const char* outcome, int times = 1) {
  Progress progress = answered(1, "DONE", outcome);
  progress.turn_agent = "claude";
  progress.turn_reason = "claude: it says why";
  if (std::string_view(outcome) == "overloaded") progress.overloads_in_row = times;
  return progress;
}

Progress limited(std::optional<Milliseconds> from_now, int times = 1) {
  Progress progress = failed_with("usage_limit");
  progress.limits_in_row = times;
  progress.limited["claude"] = from_now ? std::optional(kNow + *from_now) : std::nullopt;
  return progress;
}

Policy with_agents(std::vector<std::string> agents, Milliseconds run_limit = Milliseconds(0)) {
  Policy policy;
  policy.agents = std::move(agents);
  policy.run_time_limit = run_limit;
  return policy;
}

Policy with_budget(double dollars, std::int64_t tokens) {
  Policy policy;
  policy.max_cost_usd = dollars;
  policy.max_tokens = tokens;
  return policy;
}

Progress spent(double dollars, std::int64_t tokens, Progress progress) {
  progress.cost_usd = dollars;
  progress.tokens.output = tokens;
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
      {"a stop request before an iteration", kBeforeIteration, asked_to_stop(at(1), 1), "stop_requested", kStop,
       kInterrupted},
      {"time over before an iteration", kBeforeIteration, at(1), "run_time_spent", kStop, kLimit, with_run_limit(60s),
       60s},

      {"an agent that works goes on", kDuringTurn, at(1), "running", kContinue},
      {"the first stop request lets it finish", kDuringTurn, asked_to_stop(at(1), 1), "running", kContinue},
      {"the second ends it", kDuringTurn, asked_to_stop(at(1), 2), "stop_demanded", kEndNow},
      {"the second ends a guardrail too", kDuringCheck, asked_to_stop(at(1), 2), "stop_demanded", kEndNow},
      {"an agent within its time", kDuringTurn, at(1), "running", kContinue, kNone, {}, 9s, 9s, 0s, 10s},
      {"an agent over its time", kDuringTurn, at(1), "step_time_spent", kEndNow, kNone, {}, 10s, 10s, 0s, 10s},
      {"a guardrail over its time", kDuringCheck, at(1), "step_time_spent", kEndNow, kNone, {}, 10s, 10s, 0s, 10s},
      {"an agent that was quiet for long", kDuringTurn, at(1), "agent_idle", kEndNow, kNone, with_idle_limit(5s), 9s,
       9s, 5s},
      {"a guardrail may be quiet", kDuringCheck, at(1), "running", kContinue, kNone, with_idle_limit(5s), 9s, 9s, 9s},
      {"the run's time is over while the agent works", kDuringTurn, at(1), "run_time_spent_while_running", kEndNow,
       kNone, with_run_limit(60s), 60s},

      {"a turn that went well leads to the guardrails", kAfterTurn, answered(1, "DONE"), "turn_ended", kContinue},
      {"a crash is tried again", kAfterTurn, crashed(1, 1), "agent_failed_retry", kRetry},
      {"and again, three times", kAfterTurn, crashed(1, 3), "agent_failed_retry", kRetry},
      {"then its iteration is spent", kAfterTurn, crashed(1, 4), "turn_ended", kContinue},
      {"silence is tried again", kAfterTurn, crashed(1, 1, "empty"), "agent_failed_retry", kRetry},
      {"a timed-out turn is not: its work is checked", kAfterTurn, crashed(1, 1, "timed_out"), "turn_ended", kContinue},
      {"no retry after a stop request", kAfterTurn, asked_to_stop(crashed(1, 1), 1), "stop_requested", kStop,
       kInterrupted},
      {"no retry when the time is over", kAfterTurn, crashed(1, 1), "run_time_spent", kStop, kLimit,
       with_run_limit(60s), 61s},
      {"a stop request keeps even a good turn from going on", kAfterTurn, asked_to_stop(answered(1, "DONE"), 1),
       "stop_requested", kStop, kInterrupted},

      {"an agent that waits for its tool is not idle", kDuringTurn, at(1), "running", kContinue, kNone,
       with_idle_limit(5s), 9s, 9s, 9s, 0s, 1},
      {"an agent that has just given its result may tidy up",
       kDuringTurn,
       at(1),
       "running",
       kContinue,
       kNone,
       {},
       9s,
       9s,
       5s,
       0s,
       0,
       5s},
      {"an agent that stays long after its result is ended",
       kDuringTurn,
       at(1),
       "agent_lingers",
       kEndNow,
       kNone,
       {},
       99s,
       99s,
       30s,
       0s,
       0,
       30s},
      {"a turn within the budget",
       kDuringTurn,
       spent(4, 0, at(1)),
       "running",
       kContinue,
       kNone,
       with_budget(5, 0),
       9s,
       9s,
       0s,
       0s,
       0,
       {},
       0.9},
      {"a turn that spends the rest of the money",
       kDuringTurn,
       spent(4, 0, at(1)),
       "budget_spent_while_running",
       kEndNow,
       kNone,
       with_budget(5, 0),
       9s,
       9s,
       0s,
       0s,
       0,
       {},
       1.0},
      {"a turn whose result tells that the money is spent may end", kDuringTurn, spent(4, 0, at(1)), "running",
       kContinue, kNone, with_budget(5, 0), 9s, 9s, 0s, 0s, 0, 0s, 1.0},
      {"a turn that spends the rest of the tokens",
       kDuringTurn,
       spent(0, 900, at(1)),
       "budget_spent_while_running",
       kEndNow,
       kNone,
       with_budget(0, 1000),
       9s,
       9s,
       0s,
       0s,
       0,
       {},
       0,
       100},
      {"no iteration after the money is spent", kBeforeIteration, spent(5, 0, at(1)), "budget_spent", kStop, kLimit,
       with_budget(5, 0)},
      {"a good turn that spent the last money is checked", kAfterTurn, spent(5, 0, answered(1, "DONE")), "turn_ended",
       kContinue, kNone, with_budget(5, 0)},
      {"a guardrail costs nothing", kDuringCheck, spent(5, 0, at(1)), "running", kContinue, kNone, with_budget(5, 0)},
      {"after its checks it is the limit", kAfterChecks, failing(spent(5, 0, answered(1, "DONE"))), "budget_spent",
       kStop, kLimit, with_budget(5, 0)},
      {"no retry when the money is spent", kAfterTurn, spent(5, 0, crashed(1, 1)), "budget_spent", kStop, kLimit,
       with_budget(5, 0)},
      {"complete although the money is spent", kAfterChecks, spent(5, 0, answered(1, "DONE")), "complete", kStop,
       kComplete, with_budget(5, 0)},
      {"an agent that stopped itself at our budget", kAfterTurn, failed_with("max_budget"), "budget_spent", kStop,
       kLimit, with_budget(5, 0)},
      {"an agent that stopped itself at its own", kAfterTurn, failed_with("max_budget"), "turn_ended", kContinue},
      {"no valid key ends the run", kAfterTurn, failed_with("authentication"), "agent_refused", kStop, kFatal},
      {"no credit does", kAfterTurn, failed_with("billing"), "agent_refused", kStop, kFatal},
      {"no such model does", kAfterTurn, failed_with("model_not_found"), "agent_refused", kStop, kFatal},
      {"no permission does", kAfterTurn, failed_with("permission_denied"), "agent_refused", kStop, kFatal},
      {"a full context does not: its work is checked", kAfterTurn, failed_with("context_exhausted"), "turn_ended",
       kContinue},
      {"nor do its own turns being used up", kAfterTurn, failed_with("max_turns"), "turn_ended", kContinue},
      {"a turn that failed so completes nothing", kAfterChecks, failed_with("max_turns"), "not_answered", kContinue},
      {"an overloaded service is asked again", kAfterTurn, failed_with("overloaded"), "agent_overloaded", kRetry},
      {"eight times", kAfterTurn, failed_with("overloaded", 8), "agent_overloaded", kRetry},
      {"then the iteration is spent", kAfterTurn, failed_with("overloaded", 9), "turn_ended", kContinue},
      {"a usage limit is waited for", kAfterTurn, limited(2h), "agent_limited", kWait, kNone, with_agents({"claude"})},
      {"one that ends at an unknown time too", kAfterTurn, limited({}), "agent_limited", kWait, kNone,
       with_agents({"claude"})},
      {"one that is over already is not", kAfterTurn, limited(-1s), "agent_limited", kRetry, kNone,
       with_agents({"claude"})},
      {"unless it is met again", kAfterTurn, limited(-1s, 2), "agent_limited", kWait, kNone, with_agents({"claude"})},
      {"another agent goes on meanwhile", kAfterTurn, limited(2h), "agent_limited", kRetry, kNone,
       with_agents({"claude", "codex"})},
      {"one that ends after the run's time is the limit", kAfterTurn, limited(2h), "agent_limited", kStop, kLimit,
       with_agents({"claude"}, 3600s)},
      {"one that ends in days is the limit", kAfterTurn, limited(48h), "agent_limited", kStop, kLimit,
       with_agents({"claude"})},
      {"no waiting after a stop request", kAfterTurn, asked_to_stop(limited(2h), 1), "stop_requested", kStop,
       kInterrupted, with_agents({"claude"})},

      {"one step follows another", kBetweenSteps, answered(1, "DONE"), "step_ended", kContinue},
      {"unless a stop was requested", kBetweenSteps, asked_to_stop(answered(1, "DONE"), 1), "stop_requested", kStop,
       kInterrupted},

      {"all passed and answered: complete", kAfterChecks, answered(1, "DONE"), "complete", kStop, kComplete},
      {"case does not matter", kAfterChecks, answered(1, "done"), "complete", kStop, kComplete},
      {"nor do blanks around it", kAfterChecks, answered(1, " Done "), "complete", kStop, kComplete},
      {"complete in the last allowed iteration is complete", kAfterChecks, answered(10, "DONE"), "complete", kStop,
       kComplete},
      {"complete although the time has just run out", kAfterChecks, answered(1, "DONE"), "complete", kStop, kComplete,
       with_run_limit(60s), 61s},
      {"a failing guardrail outranks the answer", kAfterChecks, failing(answered(1, "DONE")), "checks_failed",
       kContinue},
      {"one failing among passing ones does too", kAfterChecks, failing(answered(1, "DONE"), 3), "checks_failed",
       kContinue},
      {"a failing guardrail in the last iteration is the limit", kAfterChecks, failing(answered(10, "DONE")),
       "iterations_spent", kStop, kLimit},
      {"another answer is no completion", kAfterChecks, answered(1, "ALMOST DONE"), "not_answered", kContinue},
      {"no answer is no completion", kAfterChecks, answered(1, std::nullopt), "not_answered", kContinue},
      {"an empty answer is no completion", kAfterChecks, answered(1, ""), "not_answered", kContinue},
      {"a crashed turn's answer does not count", kAfterChecks, crashed(1, 4), "not_answered", kContinue},
      {"a timed-out turn's answer does not count", kAfterChecks, crashed(1, 1, "timed_out"), "not_answered", kContinue},
      {"the last iteration without an answer is the limit", kAfterChecks, answered(10, std::nullopt),
       "iterations_spent", kStop, kLimit},
      {"a stop request outranks completion", kAfterChecks, asked_to_stop(answered(1, "DONE"), 1), "stop_requested",
       kStop, kInterrupted},
      {"time over after the checks", kAfterChecks, failing(answered(1, "DONE")), "run_time_spent", kStop, kLimit,
       with_run_limit(60s), 61s},
  };
}

TEST(Decide, FollowsItsTable) {
  for (const Row& row : table()) {
    const Decision decision = decide(row.policy, row.progress, row.observation());
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
    const Decision decision = decide(row.policy, row.progress, row.observation());
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

TEST(Decide, WaitsForALimitUntilItIsSurelyOver) {
  const Decision decision =
      decide(with_agents({"claude"}), limited(90s), Row{"", Moment::kAfterTurn, {}, "", {}}.observation());
  EXPECT_EQ(decision.delay, 91s);
  EXPECT_EQ(decision.reason, "claude is at its usage limit until 2026-11-16T03:34:50.000Z");
}

TEST(Decide, WaitsLongerEachTimeNobodySaysUntilWhen) {
  std::vector<long long> minutes;
  for (int times = 1; times <= 6; ++times) {
    const Row row{"", Moment::kAfterTurn, limited({}, times), "", {}};
    minutes.push_back(decide(with_agents({"claude"}), row.progress, row.observation()).delay / 1min);
  }
  EXPECT_EQ(minutes, (std::vector<long long>{5, 10, 20, 40, 80, 80}));
}

TEST(Decide, OverloadBackOffHasJitterAndIsBounded) {
  Observation now{Moment::kAfterTurn};
  now.random = 0;
  EXPECT_EQ(decide({}, failed_with("overloaded", 1), now).delay, 2500ms);
  now.random = 1;
  EXPECT_EQ(decide({}, failed_with("overloaded", 1), now).delay, 5000ms);
  EXPECT_EQ(decide({}, failed_with("overloaded", 8), now).delay, 300s);
}

TEST(AgentToAsk, IsTheFirstThatIsNotLimitedAndReturnsToThePreferredOne) {
  const Policy policy = with_agents({"claude", "codex", "gemini"});
  Progress progress;
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 0U);
  progress.limited["claude"] = kNow + 1h;
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 1U);
  progress.limited["codex"] = std::nullopt;
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 2U);
  progress.limited["gemini"] = kNow + 1h;
  EXPECT_EQ(agent_to_ask(policy, progress, kNow), 0U);
  EXPECT_EQ(agent_to_ask(policy, progress, kNow + 1h), 0U);
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
