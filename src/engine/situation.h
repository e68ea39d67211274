// The inputs of decide(), and the predicates that its rows use. Pure, like decide() itself.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "base/text.h"
#include "engine/observation.h"
#include "engine/policy.h"
#include "engine/progress.h"

namespace ralph {

// How long until a time-based row is due, negative if it is overdue; nullopt: never.
using Due = std::optional<Milliseconds>;

inline Due time_left(Milliseconds limit, Milliseconds spent) {
  return limit.count() > 0 ? Due(limit - spent) : std::nullopt;
}

// The exit code with which an agent says that it is waiting for a person.
inline constexpr int kWaitExitCode = 42;

struct Situation {
  const Policy& policy;
  const Progress& progress;
  const Observation& now;

  Due run_time_due() const { return time_left(policy.run_time_limit, now.clock.run_time); }
  Due step_time_due() const { return time_left(now.clock.step_limit, now.clock.step_time); }
  Due idle_due() const {
    return now.turn.tools_running == 0 ? time_left(policy.agent_idle_limit, now.clock.quiet_time) : std::nullopt;
  }
  Due linger_due() const {
    return now.turn.since_result ? Due(policy.linger_limit - *now.turn.since_result) : std::nullopt;
  }
  double cost() const { return progress.cost_usd + now.turn.cost_usd; }
  std::int64_t tokens() const { return progress.tokens.total() + now.turn.tokens; }
  bool cost_spent() const { return policy.max_cost_usd > 0 && cost() >= policy.max_cost_usd; }
  bool tokens_spent() const { return policy.max_tokens > 0 && tokens() >= policy.max_tokens; }
  bool budget_spent() const { return cost_spent() || tokens_spent(); }
  bool turn_was(std::initializer_list<TurnOutcome> outcomes) const {
    return std::find(outcomes.begin(), outcomes.end(), progress.turn_outcome) != outcomes.end();
  }
  // Whether the agent stopped because it used up the rest of our budget.
  bool stopped_by_budget() const { return policy.max_cost_usd > 0 && turn_was({TurnOutcome::kMaxBudget}); }
  bool refused() const {
    return turn_was({TurnOutcome::kAuthentication, TurnOutcome::kBilling, TurnOutcome::kModelNotFound,
                     TurnOutcome::kPermissionDenied, TurnOutcome::kRefused});
  }
  bool turn_failed() const { return turn_was({TurnOutcome::kCrashed, TurnOutcome::kEmpty, TurnOutcome::kNotStarted}); }
  bool answered() const {
    if (!turn_was({TurnOutcome::kOk}) || !progress.response) return false;
    if (policy.promise) return *progress.response == policy.completion_response;
    return equals_ignoring_case(trim(*progress.response), trim(policy.completion_response));
  }
  bool checks_passed() const { return progress.guardrails_failed.empty(); }
  // Whether nothing that ralph verified itself prevents completion.
  bool all_holds() const { return progress.checks_hold() && progress.scm.failed.empty(); }
  bool all_stories_done() const { return progress.plan.stories > 0 && progress.plan.done == progress.plan.stories; }
  bool waits_for_background() const {
    const WallTime since = progress.host.waiting_since;
    return !now.signals.promised && now.signals.background > 0 &&
           (since == WallTime{} || now.clock.now - since < policy.background_wait);
  }
  // For a session loop: whether the agent says that the work is done, and is entitled to.
  bool claims() const {
    if (!policy.needs_promise) return true;
    return now.signals.promised &&
           (now.signals.worked.value_or(true) || policy.on_promise_no_work != PromiseWithoutWork::kReject);
  }
  bool stop_is_proved() const { return (policy.checks == 0 || now.checks.ran) && progress.checks_hold(); }
  // Whether only changed files that must not be changed keep a stop from being proved.
  bool is_held_by_files() const {
    return claims() && (policy.checks == 0 || now.checks.ran) && checks_passed() && progress.tests_lost.empty() &&
           !progress.watch.held.empty();
  }
  bool checks_are_due() const {
    return policy.checks > 0 && claims() && !now.checks.ran && !now.checks.running && !now.signals.cancelled &&
           !waits_for_background();
  }
  // Without a loop, diagnostics alone decide.
  bool is_automatic() const { return now.diagnostics && now.diagnostics->automatic; }
  bool is_marked() const { return now.diagnostics && now.diagnostics->marked; }
  bool is_stuck() const { return now.diagnostics && !now.diagnostics->stagnation.empty(); }
  bool stagnates() const { return policy.stagnation_limit > 0 && now.signals.idle >= policy.stagnation_limit; }
  bool diagnostics_hold() const {
    return !policy.has_criteria() || (!progress.diagnosed.snapshots.empty() && progress.diagnosed.unmet.empty());
  }
  // Why the diagnostics do not improve; empty if they do, or if they hold.
  std::string diagnostics_stagnation() const {
    if (!policy.has_criteria() || diagnostics_hold()) return {};
    return diagnostics::stagnation(progress.diagnosed.snapshots, policy.diagnostics.criteria->stagnation_limit);
  }
  // For the rows of supervised tasks.
  bool task_done() const { return now.task && now.task->done && diagnostics_hold() && progress.watch.held.empty(); }
  int children() const { return now.task ? now.task->children : 0; }
  bool waits_for_person() const {
    const bool said_by_exit = now.moment == Moment::kAfterChecks && progress.turn_exit_code == kWaitExitCode;
    return now.task && (said_by_exit || !now.task->waits.empty());
  }
  Due done_grace_due() const {
    return now.task && now.task->since_done && diagnostics_hold() ? Due(policy.done_grace - *now.task->since_done)
                                                                  : std::nullopt;
  }
  Due child_wait_due() const {
    return now.task && now.task->since_awaiting ? Due(policy.child_wait - *now.task->since_awaiting) : std::nullopt;
  }
  Milliseconds restart_due() const {
    if (!now.task || !now.task->since_attempt) return Milliseconds(0);
    return policy.restart_delay - *now.task->since_attempt;
  }
  bool last_iteration() const { return progress.iteration >= policy.max_iterations; }
};

}  // namespace ralph
