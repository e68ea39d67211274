#include "engine/decide.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "engine/limits.h"
#include "engine/reasons.h"
#include "engine/rules.h"

namespace ralph {
namespace {

// A set of moments.
class Moments {
 public:
  constexpr Moments(std::initializer_list<Moment> moments) {
    for (const Moment moment : moments) bits_ |= 1u << static_cast<unsigned>(moment);
  }
  constexpr bool has(Moment moment) const { return (bits_ >> static_cast<unsigned>(moment) & 1u) != 0; }

 private:
  unsigned bits_ = 0;
};

Decision go_on(std::string reason = {}) {
  return {Action::kContinue, StopStatus::kNone, {}, std::move(reason)};
}
Decision stop(StopStatus status, std::string reason) {
  return {Action::kStop, status, {}, std::move(reason)};
}
Decision at_limit(Limit limit, std::string reason) {
  Decision decision = stop(StopStatus::kLimit, std::move(reason));
  decision.limit = limit;
  return decision;
}
Decision end_now(EndCause cause, std::string reason) {
  return {Action::kEndNow, StopStatus::kNone, {}, std::move(reason), Milliseconds(0), cause};
}

Decision wait_for(Milliseconds delay, std::string reason) {
  return {Action::kWait, StopStatus::kNone, {}, std::move(reason), delay};
}

constexpr std::string_view kStopAsked = "asked to stop by the file STOP-REQUESTED";
constexpr Milliseconds kAskAgain{24 * 3600 * 1000};  // for a wait that only a file can end

Milliseconds backoff(const Situation& c) {
  Milliseconds delay = c.policy.retry_backoff;
  for (int i = 1; i < c.progress.failed_turns_in_row && delay < c.policy.retry_max_backoff; ++i) delay *= 2;
  return std::min(delay, c.policy.retry_max_backoff);
}

Decision wait_for_limit(const Situation& c) {
  const auto until = all_limited_until(c.policy, c.progress, c.now.clock.now);
  if (!until) {
    const size_t next = agent_to_ask(c.policy, c.progress, c.now.clock.now);
    Decision retry{Action::kRetry, StopStatus::kNone, {}, {}};
    retry.reason =
        fmt::format("{} is at its usage limit; going on with {}", c.progress.turn_agent, c.policy.agents[next]);
    if (c.policy.agents[next] == c.progress.turn_agent)
      retry.reason = fmt::format("the usage limit of {} has ended", c.progress.turn_agent);
    return retry;
  }
  const Milliseconds wait =
      *until - c.now.clock.now + std::chrono::seconds(1);  // one more second, to be sure that it is over
  const std::string what = fmt::format("{} is at its usage limit until {}", c.progress.turn_agent, to_iso8601(*until));
  const bool past_run = c.policy.run_time_limit.count() > 0 && c.now.clock.run_time + wait > c.policy.run_time_limit;
  if (past_run)
    return stop(StopStatus::kLimit, fmt::format("{}, which is after the end of this run (budget.maxMinutes)", what));
  if (wait > c.policy.max_limit_wait) {
    return stop(StopStatus::kLimit, fmt::format("{}: longer than ralph may wait (agent.maxLimitWaitMinutes)", what));
  }
  Decision decision{Action::kWait, StopStatus::kNone, {}, what, wait};
  return decision;
}

Decision retry_overload(const Situation& c) {
  Milliseconds delay = c.policy.overload_backoff;
  for (int i = 1; i < c.progress.overloads_in_row && delay < c.policy.overload_max_backoff; ++i) delay *= 2;
  delay = std::min(delay, c.policy.overload_max_backoff);
  // Use 50 to 100 % of the delay, so that many loops do not retry in the same second.
  delay = Milliseconds(static_cast<long long>(static_cast<double>(delay.count()) * (0.5 + c.now.clock.random / 2)));
  return {Action::kRetry,
          StopStatus::kNone,
          {},
          // The time comes first: the reason may be long, and a truncated line must still say when.
          fmt::format("{} is overloaded; again in {} ({})", c.progress.turn_agent, human_duration(delay),
                      c.progress.turn_reason),
          delay};
}

// A row applies at its moments if `applies` is true and, for a time-based row, it is due.
struct Rule {
  std::string_view name;
  Moments moments;
  bool (*applies)(const Situation&);
  Decision (*decision)(const Situation&);
  Due (*due)(const Situation&) = nullptr;

  bool holds(const Situation& c) const {
    if (!moments.has(c.now.moment)) return false;
    if (!due) return applies(c);
    const Due left = due(c);
    return left && left->count() <= 0 && applies(c);
  }
};

constexpr Moments kRunning = {Moment::kDuringTurn, Moment::kDuringCheck, Moment::kDuringLook};
constexpr Moments kSpending = {Moment::kDuringTurn, Moment::kDuringCheck};
constexpr Moments kDuringTurn = {Moment::kDuringTurn};
constexpr Moments kAtStop = {Moment::kAtStop};
constexpr Moments kAfterTurn = {Moment::kAfterTurn};
constexpr Moments kBetweenSteps = {Moment::kBetweenSteps};
constexpr Moments kAfterChecks = {Moment::kAfterChecks};
constexpr Moments kBetweenIterations = {Moment::kBeforeIteration, Moment::kAfterChecks};
constexpr Moments kNothingRuns = {Moment::kBeforeIteration, Moment::kAfterTurn, Moment::kBetweenSteps,
                                  Moment::kAfterChecks};

bool always(const Situation&) {
  return true;
}

// The order matters: a row is reached only if none above it applied.
constexpr std::array kRules = {
    // While a process runs.
    Rule{"stop_demanded", kRunning, [](const Situation& c) { return c.progress.stop_requests >= 2; },
         [](const Situation&) { return end_now(EndCause::kInterrupted, "asked to stop at once"); }},
    // Not while ralph itself queries git: it needs the answer to judge the work that was done in time.
    Rule{"run_time_spent_while_running", kSpending, always,
         [](const Situation& c) {
           return end_now(EndCause::kOverBudget,
                          fmt::format("the run's {} are used up", human_duration(c.policy.run_time_limit)));
         },
         [](const Situation& c) { return c.run_time_due(); }},
    // A turn that has given its result costs nothing more, and its work may be complete.
    Rule{"budget_spent_while_running", kDuringTurn,
         [](const Situation& c) { return !c.now.turn.since_result && c.budget_spent(); },
         [](const Situation& c) { return end_now(EndCause::kOverBudget, budget_phrase(c)); }},
    Rule{"step_time_spent", kRunning, always,
         [](const Situation& c) {
           return end_now(EndCause::kTimedOut,
                          fmt::format("it took longer than {}", human_duration(c.now.clock.step_limit)));
         },
         [](const Situation& c) { return c.step_time_due(); }},
    Rule{"agent_idle", kDuringTurn, always,
         [](const Situation& c) {
           return end_now(EndCause::kIdle,
                          fmt::format("it printed nothing for {}", human_duration(c.policy.agent_idle_limit)));
         },
         [](const Situation& c) { return c.idle_due(); }},
    Rule{"agent_lingers", kDuringTurn, always,
         [](const Situation& c) {
           return end_now(EndCause::kLingered, fmt::format("it gave its result {} ago and did not end",
                                                           human_duration(c.policy.linger_limit)));
         },
         [](const Situation& c) { return c.linger_due(); }},
    Rule{"task_stop_asked_while_running", kDuringTurn,
         [](const Situation& c) { return c.now.task && c.now.task->stop_asked; },
         [](const Situation&) { return end_now(EndCause::kInterrupted, std::string(kStopAsked)); }},
    // An agent that says DONE is finishing: it may still write its summary.
    Rule{"task_done_while_running", kDuringTurn, always,
         [](const Situation& c) {
           return end_now(EndCause::kFileAppeared, fmt::format("DONE has existed for {}, and it still ran",
                                                               human_duration(c.policy.done_grace)));
         },
         [](const Situation& c) { return c.done_grace_due(); }},
    Rule{"awaited_file_appeared", kDuringTurn,
         [](const Situation& c) { return !c.now.task && c.now.signals.file_appeared; },
         [](const Situation&) {
           return end_now(EndCause::kFileAppeared, "a file that this run waits for has appeared");
         }},
    Rule{"running", kRunning, always, [](const Situation&) { return go_on(); }},

    // Between steps. Two agents must not work in one project at once.
    Rule{"agent_lives", kNothingRuns, [](const Situation& c) { return c.progress.living_agent.has_value(); },
         [](const Situation& c) {
           return stop(StopStatus::kFatal, fmt::format("the agent could not be ended, and two of them must not work "
                                                       "here at once; end it ({}), then resume the run",
                                                       *c.progress.living_agent));
         }},
    Rule{"stop_requested", kNothingRuns, [](const Situation& c) { return c.progress.stop_requests >= 1; },
         [](const Situation&) { return stop(StopStatus::kInterrupted, "asked to stop"); }},
    // It could change anything that a review has examined.
    Rule{"earlier_agent_lives",
         {Moment::kBeforeIteration, Moment::kAfterTurn, Moment::kAfterChecks},
         [](const Situation& c) { return c.policy.plan && !c.progress.survivors.empty(); },
         [](const Situation& c) {
           return stop(StopStatus::kFatal,
                       fmt::format("a process of the agent could not be ended, and while it lives nothing is approved: "
                                   "{}; end it, then resume the run",
                                   join(c.progress.survivors, "; ")));
         }},
    // No agent can bring the lost commits back.
    Rule{kRepositoryGone,
         {Moment::kBetweenSteps, Moment::kAfterChecks, Moment::kAtStop},
         [](const Situation& c) { return !lost_repository(c).empty(); },
         [](const Situation& c) {
           return stop(StopStatus::kFatal,
                       fmt::format("the repository is not the one that the run began with: {} was deleted, replaced "
                                   "or damaged; restore it from a backup or from a clone, then start a new run",
                                   lost_repository(c)));
         }},
    // A run's journal is the only proof of its work.
    Rule{"journal_changed",
         {Moment::kAfterChecks, Moment::kAtStop},
         [](const Situation& c) { return !c.now.journal.empty(); },
         [](const Situation& c) {
           return stop(StopStatus::kFatal, fmt::format("somebody changed the journal, so it no longer proves what the "
                                                       "run did ({}); start a new run",
                                                       c.now.journal));
         }},
    // A host's session wants to stop. The number of objections is limited, or an agent that fixes nothing would be sent
    // back forever; its illegal changes to the plan are reverted after it has ended.
    Rule{"plan_out_of_order", kAtStop,
         [](const Situation& c) { return c.now.plan.problems > 0 && c.now.plan.objections < c.policy.max_objections; },
         [](const Situation& c) {
           return go_on(
               fmt::format("the plan has {}", count_of(static_cast<unsigned>(c.now.plan.problems), "problem")));
         }},
    Rule{"objections_spent", kAtStop, [](const Situation& c) { return c.now.plan.problems > 0; },
         [](const Situation&) {
           return stop(StopStatus::kLimit, "the agent was sent back as often as allowed; the plan is out of order");
         }},
    // Diagnostics in a session without a loop. The agent has the last word on findings that can't or need not be fixed,
    // unless diagnostics.strict is set.
    Rule{"marked_complete", kAtStop, [](const Situation& c) { return c.is_marked(); },
         [](const Situation& c) {
           return stop(StopStatus::kComplete,
                       c.now.diagnostics->summary.empty()
                           ? "the agent said that it is done"
                           : fmt::format("the agent said that it is done, with {}", c.now.diagnostics->summary));
         }},
    Rule{"auto_clean", kAtStop, [](const Situation& c) { return c.is_automatic() && c.now.diagnostics->issues == 0; },
         [](const Situation&) { return stop(StopStatus::kComplete, "no errors or security issues are left"); }},
    Rule{"auto_stuck", kAtStop, [](const Situation& c) { return c.is_automatic() && c.is_stuck(); },
         [](const Situation& c) { return stop(StopStatus::kStagnant, c.now.diagnostics->stagnation); }},
    Rule{"auto_continues", kAtStop, [](const Situation& c) { return c.is_automatic(); },
         [](const Situation& c) { return go_on(c.now.diagnostics->summary); }},
    // A claim to be done triggers the checks. The decision about the stop itself is requested again after them.
    Rule{"checks_due", kAtStop, [](const Situation& c) { return c.checks_are_due(); },
         [](const Situation& c) {
           return Decision{Action::kRunChecks,
                           StopStatus::kNone,
                           {},
                           c.now.signals.promised ? "the promise was made; the checks run" : "the checks run"};
         }},
    // A promise in the last allowed iteration counts, so it is considered before the limit.
    Rule{"promise_accepted", kAtStop,
         [](const Situation& c) { return c.policy.needs_promise && c.claims() && c.stop_is_proved(); },
         [](const Situation& c) { return stop(StopStatus::kComplete, why_accepted(c)); }},
    Rule{"checks_passed", kAtStop,
         [](const Situation& c) { return c.now.checks.ran && c.claims() && c.stop_is_proved(); },
         [](const Situation& c) { return stop(StopStatus::kComplete, what_passed(c)); }},
    Rule{rules::kCancelled, kAtStop, [](const Situation& c) { return c.now.signals.cancelled; },
         [](const Situation&) {
           return stop(StopStatus::kCancelled, "cancelled by the user while the agent was at work");
         }},
    // A guardian keeps the checks running, and the next stop gets the result. A stop is counted if files changed while
    // the checks ran: otherwise an agent that keeps changing them would never reach its limit.
    Rule{rules::kChecksRunning, kAtStop, [](const Situation& c) { return c.now.checks.running && !c.now.checks.restarted; },
         [](const Situation&) {
           return Decision{
               Action::kHold, StopStatus::kNone, {}, "the checks are still running; this stop is not counted"};
         }},
    // The host wakes the session when such a task ends. A stop waits only once for the same task, which may never end.
    Rule{"background_task_runs", kAtStop, [](const Situation& c) { return c.waits_for_background(); },
         [](const Situation& c) {
           return Decision{Action::kWait,
                           StopStatus::kNone,
                           {},
                           fmt::format("waiting for {} in the background",
                                       count_of(static_cast<unsigned>(c.now.signals.background), "task"))};
         }},
    Rule{"continuations_spent", kAtStop, [](const Situation& c) { return c.last_iteration(); },
         [](const Situation& c) {
           return stop(
               StopStatus::kLimit,
               fmt::format("{} done without {}", count_of(static_cast<unsigned>(c.policy.max_iterations), "iteration"),
                           what_a_stop_lacks(c)));
         }},
    Rule{"diagnostics_stuck", kAtStop, [](const Situation& c) { return c.is_stuck(); },
         [](const Situation& c) { return stop(StopStatus::kStagnant, c.now.diagnostics->stagnation); }},
    Rule{"stagnant", kAtStop, [](const Situation& c) { return c.stagnates(); },
         [](const Situation& c) {
           return stop(
               StopStatus::kStagnant,
               fmt::format("{} in a row without a tool call; the agent's last words: \"{}\"",
                           count_of(static_cast<unsigned>(c.now.signals.idle), "continuation"), c.now.signals.said));
         }},
    Rule{rules::kChecksUnfinished, kAtStop, [](const Situation& c) { return c.now.checks.running; },
         [](const Situation&) { return go_on("files were changed while the checks ran; they run again"); }},
    Rule{rules::kFilesHeld, kAtStop, [](const Situation& c) { return c.is_held_by_files(); },
         [](const Situation& c) {
           const std::string_view promise = c.now.signals.promised ? "the promise was made, but " : "";
           return go_on(fmt::format("{}{}", promise, what_is_held(c.progress)));
         }},
    Rule{rules::kChecksUnmet, kAtStop, [](const Situation& c) { return c.now.checks.ran; },
         [](const Situation& c) {
           const std::string_view promise = c.now.signals.promised ? "the promise was made, but " : "";
           return go_on(fmt::format("{}{}", promise, what_failed(c)));
         }},
    Rule{rules::kPromiseWithoutWork, kAtStop, [](const Situation& c) { return c.now.signals.promised; },
         [](const Situation& c) {
           return go_on(fmt::format("the promise was made, but {} of at least {} done",
                                    count_of(static_cast<unsigned>(c.now.signals.tool_calls), "tool call"),
                                    c.policy.min_tool_calls));
         }},
    Rule{rules::kPromiseMentioned, kAtStop, [](const Situation& c) { return c.now.signals.mentioned; },
         [](const Situation&) { return go_on("the promise was mentioned in a sentence, not made"); }},
    Rule{rules::kPromiseMissing, kAtStop, always, [](const Situation&) { return go_on("the promise is missing"); }},

    // A supervised task: its states and events, in order of priority.
    Rule{"task_stop_asked", kNothingRuns, [](const Situation& c) { return c.now.task && c.now.task->stop_asked; },
         [](const Situation&) { return stop(StopStatus::kInterrupted, std::string(kStopAsked)); }},
    Rule{"task_unusable", kBetweenIterations,
         [](const Situation& c) { return c.now.task && !c.now.task->unusable.empty(); },
         [](const Situation& c) { return stop(StopStatus::kFatal, c.now.task->unusable); }},
    Rule{"task_done", kBetweenIterations, [](const Situation& c) { return c.task_done() && c.children() == 0; },
         [](const Situation&) { return stop(StopStatus::kComplete, "DONE exists, and no child run is left"); }},
    Rule{"task_children_overdue", kBetweenIterations, [](const Situation& c) { return c.task_done(); },
         [](const Situation& c) { return stop(StopStatus::kComplete, why_children_end(c)); },
         [](const Situation& c) { return c.child_wait_due(); }},
    Rule{"task_children_awaited", {Moment::kBeforeIteration}, [](const Situation& c) { return c.task_done(); },
         [](const Situation& c) {
           return wait_for(c.child_wait_due().value_or(c.policy.child_wait),
                           fmt::format("DONE exists; waiting for {}", count_of(c.children(), "child run")));
         }},
    Rule{"task_children_left", kAfterChecks, [](const Situation& c) { return c.task_done(); },
         [](const Situation&) { return go_on(); }},
    Rule{"task_waits_for_person", kBetweenIterations, [](const Situation& c) { return c.waits_for_person(); },
         [](const Situation& c) { return stop(StopStatus::kWaiting, why_waiting(c)); }},
    Rule{"job_ended", kAfterChecks, [](const Situation& c) { return c.policy.single; },
         [](const Situation& c) {
           const bool good = c.turn_was({TurnOutcome::kOk, TurnOutcome::kEmpty});
           return good ? stop(StopStatus::kComplete, "the child run ended")
                       : stop(StopStatus::kFatal, fmt::format("the child run failed: {}", c.progress.turn_reason));
         }},
    Rule{"complete", kAfterChecks,
         [](const Situation& c) { return !c.policy.plan && !c.now.task && c.all_holds() && c.answered(); },
         [](const Situation& c) { return stop(StopStatus::kComplete, why_complete(c)); }},
    // A plan is complete when its stories are done, with or without a promise.
    Rule{"plan_complete", kAfterChecks,
         [](const Situation& c) { return c.policy.plan && c.all_holds() && c.all_stories_done(); },
         [](const Situation& c) { return stop(StopStatus::kComplete, why_plan_complete(c)); }},
    // A reviewer that does not know the tag would review the same story forever.
    Rule{"verdict_unsaid", kAfterChecks,
         [](const Situation& c) { return c.policy.plan && c.progress.plan.unsaid >= 2; },
         [](const Situation& c) {
           return stop(StopStatus::kLimit,
                       fmt::format("two reviews in a row wrote a verdict without saying it; the last message of a "
                                   "review has to say <review story=\"{}\">approved</review> (or changes_requested, a "
                                   "newline and the reasons) at the beginning of a line",
                                   c.progress.plan.story));
         }},
    Rule{"diagnostics_stagnant", kAfterChecks,
         [](const Situation& c) { return !c.diagnostics_stagnation().empty(); },
         [](const Situation& c) {
           return stop(StopStatus::kStagnant, fmt::format("{} left, and {} (diagnostics.criteria.stagnationLimit)",
                                                          join_for_people(c.progress.diagnosed.unmet),
                                                          c.diagnostics_stagnation()));
         }},
    Rule{"run_time_spent", kNothingRuns, always,
         [](const Situation& c) {
           return at_limit(Limit::kTime, fmt::format("the run's {} are used up (budget.maxMinutes)",
                                                     human_duration(c.policy.run_time_limit)));
         },
         [](const Situation& c) { return c.run_time_due(); }},
    // After a successful turn its work is checked first: the checks cost nothing, and it may be complete.
    Rule{"budget_spent",
         {Moment::kBeforeIteration, Moment::kAfterTurn, Moment::kAfterChecks},
         [](const Situation& c) {
           const bool checks_first = c.now.moment == Moment::kAfterTurn && c.turn_was({TurnOutcome::kOk});
           return !checks_first && (c.budget_spent() || c.stopped_by_budget());
         },
         [](const Situation& c) {
           return at_limit(c.tokens_spent() ? Limit::kTokens : Limit::kCost, budget_phrase(c));
         }},
    Rule{"agent_refused", kAfterTurn, [](const Situation& c) { return c.refused(); },
         [](const Situation& c) { return stop(StopStatus::kFatal, c.progress.turn_reason); }},
    Rule{"awaited_file_is_there", kAfterTurn, [](const Situation& c) { return c.now.signals.file_appeared; },
         [](const Situation&) { return go_on(); }},
    Rule{"agent_limited", kAfterTurn, [](const Situation& c) { return c.turn_was({TurnOutcome::kUsageLimit}); },
         wait_for_limit},
    Rule{"agent_overloaded", kAfterTurn,
         [](const Situation& c) {
           return c.turn_was({TurnOutcome::kOverloaded}) && c.progress.overloads_in_row <= c.policy.overload_retries;
         },
         retry_overload},
    Rule{"agent_failed_retry", kAfterTurn,
         [](const Situation& c) { return c.turn_failed() && c.progress.failed_attempts < c.policy.retry_attempts; },
         [](const Situation& c) {
           Decision retry{Action::kRetry, StopStatus::kNone, {}, {}, backoff(c)};
           const std::string_view what = c.turn_was({TurnOutcome::kEmpty})        ? "said nothing"
                                         : c.turn_was({TurnOutcome::kNotStarted}) ? "could not be started"
                                                                                  : "crashed";
           retry.reason = fmt::format("the agent {}; try {} of {} in {}", what, c.progress.failed_attempts + 1,
                                      c.policy.retry_attempts, human_duration(retry.delay));
           return retry;
         }},
    // Further iterations would fail in the same way.
    Rule{"agent_not_started", kAfterTurn, [](const Situation& c) { return c.turn_was({TurnOutcome::kNotStarted}); },
         [](const Situation& c) { return stop(StopStatus::kFatal, c.progress.turn_reason); }},
    Rule{"turn_ended", kAfterTurn, always, [](const Situation&) { return go_on(); }},
    Rule{"changed_since_checks", kBetweenSteps, [](const Situation& c) { return c.now.checks.outdated; },
         [](const Situation&) {
           return Decision{
               Action::kCheckAgain, StopStatus::kNone, {}, "files were changed after the checks; they run again"};
         }},
    Rule{"step_ended", kBetweenSteps, always, [](const Situation&) { return go_on(); }},
    Rule{rules::kRestartsSpent, kBetweenIterations, [](const Situation& c) { return c.now.task && c.last_iteration(); },
         [](const Situation& c) { return stop(StopStatus::kLimit, why_restarts_spent(c)); }},
    Rule{"task_depends",
         {Moment::kBeforeIteration},
         [](const Situation& c) { return c.now.task && !c.now.task->open.empty(); },
         [](const Situation& c) {
           return wait_for(kAskAgain, fmt::format("waiting until {} {} done", join_for_people(c.now.task->open),
                                                  c.now.task->open.size() == 1 ? "is" : "are"));
         }},
    Rule{"task_restart_delay",
         {Moment::kBeforeIteration},
         [](const Situation& c) { return c.restart_due().count() > 0; },
         [](const Situation& c) { return wait_for(c.restart_due(), why_restarted(c)); }},
    Rule{"task_unproved", kAfterChecks, [](const Situation& c) { return c.now.task && c.now.task->unproved; },
         [](const Situation& c) {
           return go_on(fmt::format("DONE was removed: {}; the next prompt says so", what_failed(c)));
         }},
    Rule{"task_restarts", kAfterChecks, [](const Situation& c) { return c.now.task.has_value(); },
         [](const Situation&) { return go_on(); }},
    Rule{"iterations_spent", kBetweenIterations, [](const Situation& c) { return c.last_iteration(); },
         [](const Situation& c) {
           return at_limit(
               Limit::kIterations,
               fmt::format("{} done, but {}", count_of(static_cast<unsigned>(c.policy.max_iterations), "iteration"),
                           what_is_missing(c)));
         }},
    Rule{"iteration_may_begin", {Moment::kBeforeIteration}, always, [](const Situation&) { return go_on(); }},
    Rule{"checks_failed", kAfterChecks, [](const Situation& c) { return !c.checks_passed(); },
         [](const Situation& c) {
           const size_t failed = c.progress.guardrails_failed.size();
           return go_on(fmt::format("{} failed; the next prompt says so", count_of(failed, "guardrail")));
         }},
    Rule{"files_changed", kAfterChecks, [](const Situation& c) { return !c.progress.watch.held.empty(); },
         [](const Situation& c) { return go_on(fmt::format("{}; the next prompt says so", what_is_held(c.progress))); }},
    Rule{"tests_lost", kAfterChecks, [](const Situation& c) { return !c.progress.tests_lost.empty(); },
         [](const Situation& c) { return go_on(fmt::format("{}; the next prompt says so", what_is_held(c.progress))); }},
    Rule{"scm_failed", kAfterChecks, [](const Situation& c) { return !c.progress.scm.failed.empty(); },
         [](const Situation& c) { return go_on(fmt::format("{}; the next prompt says so", what_is_held(c.progress))); }},
    Rule{"promise_too_early", kAfterChecks, [](const Situation& c) { return c.policy.plan && c.answered(); },
         [](const Situation& c) { return go_on(fmt::format("the agent promised too early: {}", stories_phrase(c))); }},
    Rule{"stories_left", kAfterChecks, [](const Situation& c) { return c.policy.plan; },
         [](const Situation& c) { return go_on(stories_phrase(c)); }},
    Rule{"not_answered", kAfterChecks, always,
         [](const Situation& c) { return go_on(fmt::format("not complete: {}", what_the_agent_answered(c))); }},
};

constexpr auto kRuleNames = [] {
  std::array<std::string_view, kRules.size()> names{};
  for (size_t i = 0; i < kRules.size(); ++i) names[i] = kRules[i].name;
  return names;
}();

static_assert(std::ranges::all_of(rules::kEndsOfTasks, [](std::string_view name) {
  return std::ranges::find(kRuleNames, name) != kRuleNames.end();
}));

}  // namespace

int exit_code_of(StopStatus status) {
  constexpr std::array kCodes = {2, 0, 1, 2, 3, 130, 130, 1};
  return kCodes[static_cast<size_t>(status)];
}

Decision decide(const Policy& policy, const Progress& progress, const Observation& observation) {
  const Situation c{policy, progress, observation};
  const Rule& rule = *std::find_if(kRules.begin(), kRules.end(), [&](const Rule& row) { return row.holds(c); });
  Decision decision = rule.decision(c);
  decision.rule = rule.name;
  return decision;
}

std::optional<Milliseconds> time_until_change(const Policy& policy, const Progress& progress,
                                              const Observation& observation) {
  const Situation c{policy, progress, observation};
  std::optional<Milliseconds> soonest;
  for (const Rule& rule : kRules) {
    const bool may_fall_due = rule.due && rule.moments.has(observation.moment) && rule.applies(c);
    if (const Due due = may_fall_due ? rule.due(c) : std::nullopt) {
      const Milliseconds left = std::max(*due, Milliseconds(0));
      soonest = soonest ? std::min(*soonest, left) : left;
    }
    if (rule.holds(c)) break;  // it decides now; the rows below it can't change that
  }
  return soonest;
}

std::span<const std::string_view> rule_names() {
  return kRuleNames;
}

}  // namespace ralph
