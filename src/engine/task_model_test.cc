// The supervisor of a task, explored exhaustively: all that can happen in a task's folder between any two questions to
// decide(), in any order, with the real table. What must never be is checked in every state that can be reached.
#include <map>
#include <queue>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "engine/decide.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

constexpr int kLimit = 3;

enum class Phase { kBefore, kRunning, kAfterTurn, kAfter, kStopped };

// One state of the supervisor and of its surroundings.
struct State {
  Phase phase = Phase::kBefore;
  int attempts = 0, exit_code = 0, children = 0, stop_requests = 0;
  bool done = false, stop_file = false, marker = false, unusable = false, dependency = false;
  bool delay_over = true, child_wait_over = false, grace_over = false;
  auto operator<=>(const State&) const = default;

  Moment moment() const {
    switch (phase) {
      case Phase::kRunning:
        return Moment::kDuringTurn;
      case Phase::kAfterTurn:
        return Moment::kAfterTurn;
      case Phase::kAfter:
        return Moment::kAfterChecks;
      default:
        return Moment::kBeforeIteration;
    }
  }
};

Decision decision_in(const State& state) {
  Policy policy;
  policy.max_iterations = kLimit;
  policy.retry_attempts = 1;
  Progress progress;
  progress.iteration = state.attempts;
  progress.stop_requests = state.stop_requests;
  progress.turn_exit_code = state.exit_code;
  progress.failed_attempts = state.exit_code == 0 ? 0 : 1;
  if (state.attempts > 0 && state.phase != Phase::kRunning)
    progress.turn_outcome = state.exit_code == 0 ? TurnOutcome::kOk : TurnOutcome::kCrashed;
  Observation now;
  now.moment = state.moment();
  Observation::Task task;
  task.done = state.done && !state.unusable;
  if (state.unusable) task.unusable = "DONE is a directory";
  task.stop_asked = state.stop_file;
  if (state.marker) task.waits = "marker";
  task.children = state.children;
  if (state.dependency) task.open = {"other"};
  if (task.done) task.since_done = state.grace_over ? 30s : 1s;
  if (task.done && state.phase != Phase::kRunning) task.since_awaiting = state.child_wait_over ? 300s : 1s;
  if (state.attempts > 0) task.since_attempt = state.delay_over ? 1s : 0s;
  now.task = task;
  now.signals.file_appeared = state.done || state.stop_file;
  return decide(policy, progress, now);
}

// What the world may do at any time, one thing at a time.
std::vector<State> after_events(const State& state) {
  std::vector<State> next;
  const auto add = [&](auto change) {
    State changed = state;
    change(changed);
    if (changed != state) next.push_back(changed);
  };
  add([](State& s) { s.done = true; });
  add([](State& s) { s.done = false, s.grace_over = false, s.child_wait_over = false; });  // somebody removes it
  add([](State& s) { s.stop_file = true; });
  add([](State& s) { s.marker = true; });
  add([](State& s) { s.unusable = true; });
  add([](State& s) { s.dependency = false; });
  add([](State& s) { s.stop_requests = std::min(s.stop_requests + 1, 2); });
  if (state.phase == Phase::kRunning) add([](State& s) { s.children = std::min(s.children + 1, 2); });
  if (state.children > 0) add([](State& s) { --s.children; });
  // Time.
  add([](State& s) { s.delay_over = true; });
  if (state.done) add([](State& s) { s.grace_over = true; });
  if (state.done && state.phase != Phase::kRunning) add([](State& s) { s.child_wait_over = true; });
  // The agent ends by itself.
  if (state.phase == Phase::kRunning) {
    for (const int code : {0, 1, 42}) {
      add([&](State& s) { s.phase = Phase::kAfterTurn, s.exit_code = code; });
    }
  }
  return next;
}

// What drive() does with the decision.
State after_decision(const State& state, const Decision& decision) {
  State next = state;
  if (decision.stops()) {
    next.phase = Phase::kStopped;
  } else if (state.phase == Phase::kBefore && decision.action == Action::kContinue) {
    next.phase = Phase::kRunning;
    ++next.attempts;
    next.exit_code = 0;
    next.delay_over = false;
    next.child_wait_over = false;
  } else if (state.phase == Phase::kRunning && decision.action == Action::kEndNow) {
    next.phase = Phase::kAfterTurn;
    next.exit_code = 1;
  } else if (state.phase == Phase::kAfterTurn && decision.action == Action::kContinue) {
    next.phase = Phase::kAfter;
  } else if (state.phase == Phase::kAfter && decision.action == Action::kContinue) {
    next.phase = Phase::kBefore;
  }
  return next;
}

void check(const State& state, const Decision& decision) {
  const std::string_view rule = decision.rule;
  const bool done = state.done && !state.unusable;
  if (state.phase == Phase::kBefore && decision.action == Action::kContinue) {
    ASSERT_FALSE(state.done) << "restarted after DONE by " << rule;
    ASSERT_FALSE(state.stop_file || state.stop_requests > 0) << "restarted after a request to stop by " << rule;
    ASSERT_FALSE(state.marker || state.unusable || state.dependency) << rule;
    ASSERT_TRUE(state.delay_over || state.attempts == 0) << "restarted too early by " << rule;
    ASSERT_LT(state.attempts, kLimit) << "more attempts than allowed by " << rule;
  }
  if (decision.stops()) {
    const std::map<StopStatus, bool> reasons = {
        {StopStatus::kComplete, done && (state.children == 0 || state.child_wait_over)},
        {StopStatus::kLimit, state.attempts >= kLimit && !done},
        {StopStatus::kWaiting, state.marker || state.exit_code == 42},
        {StopStatus::kInterrupted, state.stop_file || state.stop_requests > 0},
        {StopStatus::kFatal, state.unusable},
    };
    ASSERT_TRUE(reasons.contains(decision.status) && reasons.at(decision.status))
        << "stopped without a stop condition by " << rule;
  }
  if (decision.action == Action::kEndNow)
    ASSERT_TRUE(state.stop_file || state.stop_requests >= 2 || (done && state.grace_over)) << rule;
  if (decision.action == Action::kWait) {
    ASSERT_EQ(state.phase, Phase::kBefore) << rule;
    ASSERT_GT(decision.delay.count(), 0) << "a wait that is none, by " << rule;
    ASSERT_TRUE((done && state.children > 0 && !state.child_wait_over) || state.dependency || !state.delay_over)
        << rule;
  }
  ASSERT_NE(decision.action, Action::kRetry) << "an attempt has no retries of its own";
}

TEST(TaskModel, NothingForbiddenCanBeReached) {
  std::set<State> seen;
  std::queue<State> open;
  const auto visit = [&](const State& state) {
    if (seen.insert(state).second) open.push(state);
  };
  State first;
  visit(first);
  first.dependency = true;
  visit(first);
  std::set<std::string_view> rules;
  while (!open.empty()) {
    const State state = open.front();
    open.pop();
    if (state.phase == Phase::kStopped) continue;
    const Decision decision = decision_in(state);
    rules.insert(decision.rule);
    ASSERT_NO_FATAL_FAILURE(check(state, decision));
    visit(after_decision(state, decision));
    for (const State& next : after_events(state)) visit(next);
  }
  EXPECT_GT(seen.size(), 5'000U);
  for (const char* rule : {"task_done", "task_children_overdue", "task_children_awaited", "task_waits_for_person",
                           "task_stop_asked", "task_unusable", "restarts_spent", "task_depends", "task_restart_delay",
                           "task_done_while_running", "task_stop_asked_while_running", "iteration_may_begin"})
    EXPECT_TRUE(rules.contains(rule)) << rule << " is never reached";
}

// Without any event, every state leads to a stop, to an attempt, or to a wait that a clock or a file ends.
TEST(TaskModel, NeverHangs) {
  for (int bits = 0; bits < 256; ++bits) {
    State state;
    state.done = bits & 1, state.stop_file = bits & 2, state.marker = bits & 4, state.unusable = bits & 8;
    state.dependency = bits & 16, state.delay_over = bits & 32, state.children = bits & 64 ? 1 : 0;
    state.attempts = bits & 128 ? kLimit : 1;
    bool ends = false;
    for (int steps = 0; steps < 10 && !ends; ++steps) {
      const Decision decision = decision_in(state);
      ends = decision.stops() || decision.action == Action::kContinue;
      if (decision.action != Action::kWait) break;
      state.delay_over = true, state.child_wait_over = true, state.dependency = false;  // what it waits for comes
    }
    EXPECT_TRUE(ends) << bits;
  }
}

}  // namespace
}  // namespace ralph
