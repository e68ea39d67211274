// Explores the supervisor of a task exhaustively: everything that can happen in a task's folder between any two calls
// to decide(), in any order, with the real table. Checks the invariants in every reachable state.
#include <map>
#include <queue>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "engine/decide.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

constexpr int kModelLimit = 3;

enum class ModelPhase { kBefore, kRunning, kAfterTurn, kAfter, kStopped };

// One state of the supervisor and its environment.
struct ModelState {
  ModelPhase phase = ModelPhase::kBefore;
  int attempts = 0, exit_code = 0, children = 0, stop_requests = 0;
  bool done = false, stop_file = false, marker = false, unusable = false, dependency = false;
  bool delay_over = true, child_wait_over = false, grace_over = false;
  auto operator<=>(const ModelState&) const = default;

  Moment moment() const {
    switch (phase) {
      case ModelPhase::kRunning:
        return Moment::kDuringTurn;
      case ModelPhase::kAfterTurn:
        return Moment::kAfterTurn;
      case ModelPhase::kAfter:
        return Moment::kAfterChecks;
      default:
        return Moment::kBeforeIteration;
    }
  }
};

Decision model_decision(const ModelState& state) {
  Policy policy;
  policy.max_iterations = kModelLimit;
  policy.retry_attempts = 1;
  Progress progress;
  progress.iteration = state.attempts;
  progress.stop_requests = state.stop_requests;
  progress.turn_exit_code = state.exit_code;
  progress.failed_attempts = state.exit_code == 0 ? 0 : 1;
  if (state.attempts > 0 && state.phase != ModelPhase::kRunning)
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
  if (task.done && state.phase != ModelPhase::kRunning) task.since_awaiting = state.child_wait_over ? 300s : 1s;
  if (state.attempts > 0) task.since_attempt = state.delay_over ? 1s : 0s;
  now.task = task;
  now.signals.file_appeared = state.done || state.stop_file;
  return decide(policy, progress, now);
}

// The states after each single event that may happen at any time.
std::vector<ModelState> after_events(const ModelState& state) {
  std::vector<ModelState> next;
  const auto add = [&](auto change) {
    ModelState changed = state;
    change(changed);
    if (changed != state) next.push_back(changed);
  };
  add([](ModelState& s) { s.done = true; });
  add([](ModelState& s) { s.done = false, s.grace_over = false, s.child_wait_over = false; });  // somebody removes DONE
  add([](ModelState& s) { s.stop_file = true; });
  add([](ModelState& s) { s.marker = true; });
  add([](ModelState& s) { s.unusable = true; });
  add([](ModelState& s) { s.dependency = false; });
  add([](ModelState& s) { s.stop_requests = std::min(s.stop_requests + 1, 2); });
  if (state.phase == ModelPhase::kRunning) add([](ModelState& s) { s.children = std::min(s.children + 1, 2); });
  if (state.children > 0) add([](ModelState& s) { --s.children; });
  // Time passes.
  add([](ModelState& s) { s.delay_over = true; });
  if (state.done) add([](ModelState& s) { s.grace_over = true; });
  if (state.done && state.phase != ModelPhase::kRunning) add([](ModelState& s) { s.child_wait_over = true; });
  // The agent exits by itself.
  if (state.phase == ModelPhase::kRunning) {
    for (const int code : {0, 1, 42}) {
      add([&](ModelState& s) { s.phase = ModelPhase::kAfterTurn, s.exit_code = code; });
    }
  }
  return next;
}

// Models how drive() executes the decision.
ModelState after_decision(const ModelState& state, const Decision& decision) {
  ModelState next = state;
  if (decision.stops()) {
    next.phase = ModelPhase::kStopped;
  } else if (state.phase == ModelPhase::kBefore && decision.action == Action::kContinue) {
    next.phase = ModelPhase::kRunning;
    ++next.attempts;
    next.exit_code = 0;
    next.delay_over = false;
    next.child_wait_over = false;
  } else if (state.phase == ModelPhase::kRunning && decision.action == Action::kEndNow) {
    next.phase = ModelPhase::kAfterTurn;
    next.exit_code = 1;
  } else if (state.phase == ModelPhase::kAfterTurn && decision.action == Action::kContinue) {
    next.phase = ModelPhase::kAfter;
  } else if (state.phase == ModelPhase::kAfter && decision.action == Action::kContinue) {
    next.phase = ModelPhase::kBefore;
  }
  return next;
}

void check_model(const ModelState& state, const Decision& decision) {
  const std::string_view rule = decision.rule;
  const bool done = state.done && !state.unusable;
  if (state.phase == ModelPhase::kBefore && decision.action == Action::kContinue) {
    ASSERT_FALSE(state.done) << "restarted after DONE by " << rule;
    ASSERT_FALSE(state.stop_file || state.stop_requests > 0) << "restarted after a request to stop by " << rule;
    ASSERT_FALSE(state.marker || state.unusable || state.dependency) << rule;
    ASSERT_TRUE(state.delay_over || state.attempts == 0) << "restarted too early by " << rule;
    ASSERT_LT(state.attempts, kModelLimit) << "more attempts than allowed by " << rule;
  }
  if (decision.stops()) {
    const std::map<StopStatus, bool> reasons = {
        {StopStatus::kComplete, done && (state.children == 0 || state.child_wait_over)},
        {StopStatus::kLimit, state.attempts >= kModelLimit && !done},
        {StopStatus::kWaiting, state.marker || state.exit_code == 42},
        {StopStatus::kInterrupted, state.stop_file || state.stop_requests > 0},
        {StopStatus::kFatal, state.unusable},
    };
    ASSERT_TRUE(reasons.contains(decision.status) && reasons.at(decision.status))
        << "stopped without a stop condition by " << rule;
  }
  if (decision.action == Action::kEndNow) {
    ASSERT_TRUE(state.stop_file || state.stop_requests >= 2 || (done && state.grace_over)) << rule;
  }
  if (decision.action == Action::kWait) {
    ASSERT_EQ(state.phase, ModelPhase::kBefore) << rule;
    ASSERT_GT(decision.delay.count(), 0) << "a wait that is none, by " << rule;
    ASSERT_TRUE((done && state.children > 0 && !state.child_wait_over) || state.dependency || !state.delay_over)
        << rule;
  }
  ASSERT_NE(decision.action, Action::kRetry) << "an attempt has no retries of its own";
}

TEST(TaskModel, NothingForbiddenCanBeReached) {
  std::set<ModelState> seen;
  std::queue<ModelState> open;
  const auto visit = [&](const ModelState& state) {
    if (seen.insert(state).second) open.push(state);
  };
  ModelState first;
  visit(first);
  first.dependency = true;
  visit(first);
  std::set<std::string_view> rules;
  while (!open.empty()) {
    const ModelState state = open.front();
    open.pop();
    if (state.phase == ModelPhase::kStopped) continue;
    const Decision decision = model_decision(state);
    rules.insert(decision.rule);
    ASSERT_NO_FATAL_FAILURE(check_model(state, decision));
    visit(after_decision(state, decision));
    for (const ModelState& next : after_events(state)) visit(next);
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
    ModelState state;
    state.done = bits & 1, state.stop_file = bits & 2, state.marker = bits & 4, state.unusable = bits & 8;
    state.dependency = bits & 16, state.delay_over = bits & 32, state.children = bits & 64 ? 1 : 0;
    state.attempts = bits & 128 ? kModelLimit : 1;
    bool ends = false;
    for (int steps = 0; steps < 10 && !ends; ++steps) {
      const Decision decision = model_decision(state);
      ends = decision.stops() || decision.action == Action::kContinue;
      if (decision.action != Action::kWait) break;
      state.delay_over = true, state.child_wait_over = true, state.dependency = false;  // the awaited events happen
    }
    EXPECT_TRUE(ends) << bits;
  }
}

}  // namespace
}  // namespace ralph
