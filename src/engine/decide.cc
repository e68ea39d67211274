#include "engine/decide.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/limits.h"

namespace ralph {
namespace {

constexpr size_t kNameWidth = 60;  // of a guardrail's name in a reason: it may be a long command

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

using Due = std::optional<Milliseconds>;

// How long until `spent` reaches `limit`, negative if it has; nullopt if there is no limit.
Due until(Milliseconds limit, Milliseconds spent) {
  return limit.count() > 0 ? Due(limit - spent) : std::nullopt;
}

struct Case {
  const Policy& policy;
  const Progress& progress;
  const Observation& now;

  Due run_time_due() const { return until(policy.run_time_limit, now.clock.run_time); }
  Due step_time_due() const { return until(now.clock.step_limit, now.clock.step_time); }
  Due idle_due() const {
    return now.turn.tools_running == 0 ? until(policy.agent_idle_limit, now.clock.quiet_time) : std::nullopt;
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
  // The agent stopped because it used up the rest of our budget.
  bool stopped_by_budget() const { return policy.max_cost_usd > 0 && turn_was({TurnOutcome::kMaxBudget}); }
  bool refused() const {
    return turn_was({TurnOutcome::kAuthentication, TurnOutcome::kBilling, TurnOutcome::kModelNotFound,
                     TurnOutcome::kPermissionDenied, TurnOutcome::kRefused});
  }
  bool turn_failed() const { return turn_was({TurnOutcome::kCrashed, TurnOutcome::kEmpty}); }
  bool answered() const {
    if (!turn_was({TurnOutcome::kOk}) || !progress.response) return false;
    if (policy.promise) return *progress.response == policy.completion_response;
    return equals_ignoring_case(trim(*progress.response), trim(policy.completion_response));
  }
  bool checks_passed() const { return progress.guardrails_failed.empty(); }
  bool all_stories_done() const { return progress.plan.stories > 0 && progress.plan.done == progress.plan.stories; }
  bool waits_for_background() const {
    const WallTime since = progress.host.waiting_since;
    return !now.signals.promised && now.signals.background > 0 &&
           (since == WallTime{} || now.clock.now - since < policy.background_wait);
  }
  bool stagnates() const { return policy.stagnation_limit > 0 && now.signals.idle >= policy.stagnation_limit; }
  bool last_iteration() const { return progress.iteration >= policy.max_iterations; }
};

Decision go_on(std::string reason = {}) {
  return {Action::kContinue, StopStatus::kNone, {}, std::move(reason)};
}
Decision stop(StopStatus status, std::string reason) {
  return {Action::kStop, status, {}, std::move(reason)};
}
Decision end_now(EndCause cause, std::string reason) {
  return {Action::kEndNow, StopStatus::kNone, {}, std::move(reason), Milliseconds(0), cause};
}

Milliseconds backoff(const Case& c) {
  Milliseconds delay = c.policy.retry_backoff;
  for (int i = 1; i < c.progress.failed_turns_in_row && delay < c.policy.retry_max_backoff; ++i) delay *= 2;
  return std::min(delay, c.policy.retry_max_backoff);
}

std::string what_the_agent_answered(const Case& c) {
  if (c.turn_was({TurnOutcome::kCrashed})) return fmt::format("its last turn crashed: {}", c.progress.turn_reason);
  if (c.turn_was({TurnOutcome::kEmpty})) return "its last turn said nothing";
  if (!c.turn_was({TurnOutcome::kOk}))
    return fmt::format("its last turn ended early: {}", replace_all(to_string(c.progress.turn_outcome), "_", " "));
  if (!c.progress.response) return "its last turn gave no <response>";
  return fmt::format("its last answer was \"{}\"", *c.progress.response);
}

std::string stories_phrase(const Case& c) {
  const Progress::Plan& plan = c.progress.plan;
  constexpr size_t kNamed = 3;
  std::vector<std::string> names(plan.open.begin(),
                                 plan.open.begin() + static_cast<std::ptrdiff_t>(std::min(plan.open.size(), kNamed)));
  if (plan.open.size() > kNamed) names.push_back(fmt::format("{} more", plan.open.size() - kNamed));
  return fmt::format("{} of {} done; open: {}", plan.done, count_of(static_cast<unsigned>(plan.stories), "story"),
                     join_for_people(names));
}

std::string what_is_missing(const Case& c) {
  if (!c.progress.guardrails_failed.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : c.progress.guardrails_failed) names.push_back(fit_to_width(name, kNameWidth));
    return fmt::format("{} still {}", join_for_people(names),
                       c.progress.guardrails_failed.size() == 1 ? "fails" : "fail");
  }
  if (c.policy.plan) return stories_phrase(c);
  return fmt::format("the agent has not answered \"{}\" ({})", c.policy.completion_response,
                     what_the_agent_answered(c));
}

std::string what_passed(const Case& c) {
  const int passed = c.progress.guardrails_passed;
  const std::string_view noun = c.policy.plan ? "check" : "guardrail";
  if (passed == 0) return fmt::format("there are no {}s", noun);
  return passed == 1 ? fmt::format("the {} passed", noun) : fmt::format("all {} {}s passed", passed, noun);
}

std::string why_plan_complete(const Case& c) {
  const int stories = c.progress.plan.stories;
  return fmt::format("{} done and {}{}", stories == 1 ? "the story is" : fmt::format("all {} stories are", stories),
                     what_passed(c), c.answered() ? ", as the agent promised" : "");
}

std::string why_complete(const Case& c) {
  const std::string guardrails = what_passed(c);
  return fmt::format("the agent answered \"{}\" and {}", trim(*c.progress.response), guardrails);
}

std::string budget_phrase(const Case& c) {
  if (c.tokens_spent()) return fmt::format("{} tokens used of {} (budget.maxTokens)", c.tokens(), c.policy.max_tokens);
  return fmt::format("{} spent of {} (budget.maxCostUsd)", human_cost(c.cost()), human_cost(c.policy.max_cost_usd));
}

Decision wait_for_limit(const Case& c) {
  const auto until = all_limited_until(c.policy, c.progress, c.now.clock.now);
  if (!until) {
    const size_t next = agent_to_ask(c.policy, c.progress, c.now.clock.now);
    Decision retry{Action::kRetry, StopStatus::kNone, {}, {}};
    retry.reason =
        fmt::format("{} is at its usage limit; going on with {}", c.progress.turn_agent, c.policy.agents[next]);
    if (c.policy.agents[next] == c.progress.turn_agent)
      retry.reason = fmt::format("the limit of {} is over", c.progress.turn_agent);
    return retry;
  }
  const Milliseconds wait =
      *until - c.now.clock.now + std::chrono::seconds(1);  // a second later, to be sure that it is over
  const std::string what = fmt::format("{} is at its usage limit until {}", c.progress.turn_agent, to_iso8601(*until));
  const bool past_run = c.policy.run_time_limit.count() > 0 && c.now.clock.run_time + wait > c.policy.run_time_limit;
  if (past_run)
    return stop(StopStatus::kLimit, fmt::format("{}, which is after the end of this run (budget.maxMinutes)", what));
  if (wait > c.policy.max_limit_wait) {
    return stop(StopStatus::kLimit, fmt::format("{}: longer than ralph is to wait (agent.maxLimitWaitMinutes)", what));
  }
  Decision decision{Action::kWait, StopStatus::kNone, {}, what, wait};
  return decision;
}

Decision retry_overload(const Case& c) {
  Milliseconds delay = c.policy.overload_backoff;
  for (int i = 1; i < c.progress.overloads_in_row && delay < c.policy.overload_max_backoff; ++i) delay *= 2;
  delay = std::min(delay, c.policy.overload_max_backoff);
  // Use 50 to 100 % of it, so that many loops do not return in the same second.
  delay = Milliseconds(static_cast<long long>(static_cast<double>(delay.count()) * (0.5 + c.now.clock.random / 2)));
  return {Action::kRetry,
          StopStatus::kNone,
          {},
          // The time comes first: the reason may be long, and a line that is cut must still say when.
          fmt::format("{} is overloaded; again in {} ({})", c.progress.turn_agent, human_duration(delay),
                      c.progress.turn_reason),
          delay};
}

std::string why_accepted(const Case& c) {
  if (!c.now.signals.worked) return "the promise was given; whether work was done can't be known here";
  if (!*c.now.signals.worked) {
    return c.policy.on_promise_no_work == PromiseWithoutWork::kWarn
               ? "the promise was given without any work, and accepted with this warning"
               : "the promise was given without any work, which is accepted here";
  }
  if (c.now.signals.tool_calls == 0) return "the promise was given and the tree has changed";
  return fmt::format("the promise was given after {}",
                     count_of(static_cast<unsigned>(c.now.signals.tool_calls), "tool call"));
}

// A row applies at its moments if `applies` says so or, for a row about time, once it is due.
struct Rule {
  std::string_view name;
  Moments moments;
  bool (*applies)(const Case&);
  Decision (*decision)(const Case&);
  Due (*due)(const Case&) = nullptr;

  bool holds(const Case& c) const {
    if (!moments.has(c.now.moment)) return false;
    if (!due) return applies(c);
    const Due left = due(c);
    return left && left->count() <= 0 && applies(c);
  }
};

constexpr Moments kRunning = {Moment::kDuringTurn, Moment::kDuringCheck};
constexpr Moments kDuringTurn = {Moment::kDuringTurn};
constexpr Moments kAtStop = {Moment::kAtStop};
constexpr Moments kAfterTurn = {Moment::kAfterTurn};
constexpr Moments kBetweenSteps = {Moment::kBetweenSteps};
constexpr Moments kAfterChecks = {Moment::kAfterChecks};
constexpr Moments kBetweenIterations = {Moment::kBeforeIteration, Moment::kAfterChecks};
constexpr Moments kNothingRuns = {Moment::kBeforeIteration, Moment::kAfterTurn, Moment::kBetweenSteps,
                                  Moment::kAfterChecks};

bool always(const Case&) {
  return true;
}

// The order matters: a row is reached only if none above it applied.
constexpr std::array kRules = {
    // While a process runs.
    Rule{"stop_demanded", kRunning, [](const Case& c) { return c.progress.stop_requests >= 2; },
         [](const Case&) { return end_now(EndCause::kInterrupted, "asked to stop at once"); }},
    Rule{"run_time_spent_while_running", kRunning, always,
         [](const Case& c) {
           return end_now(EndCause::kOverBudget,
                          fmt::format("the run's {} are over", human_duration(c.policy.run_time_limit)));
         },
         [](const Case& c) { return c.run_time_due(); }},
    // A turn that has given its result costs no more, and its work may be complete.
    Rule{"budget_spent_while_running", kDuringTurn,
         [](const Case& c) { return !c.now.turn.since_result && c.budget_spent(); },
         [](const Case& c) { return end_now(EndCause::kOverBudget, budget_phrase(c)); }},
    Rule{"step_time_spent", kRunning, always,
         [](const Case& c) {
           return end_now(EndCause::kTimedOut,
                          fmt::format("it took longer than {}", human_duration(c.now.clock.step_limit)));
         },
         [](const Case& c) { return c.step_time_due(); }},
    Rule{"agent_idle", kDuringTurn, always,
         [](const Case& c) {
           return end_now(EndCause::kIdle,
                          fmt::format("it printed nothing for {}", human_duration(c.policy.agent_idle_limit)));
         },
         [](const Case& c) { return c.idle_due(); }},
    Rule{"agent_lingers", kDuringTurn, always,
         [](const Case& c) {
           return end_now(EndCause::kLingered, fmt::format("it gave its result {} ago and did not end",
                                                           human_duration(c.policy.linger_limit)));
         },
         [](const Case& c) { return c.linger_due(); }},
    Rule{"awaited_file_appeared", kDuringTurn, [](const Case& c) { return c.now.signals.file_appeared; },
         [](const Case&) { return end_now(EndCause::kFileAppeared, "a file that this run waits for has appeared"); }},
    Rule{"running", kRunning, always, [](const Case&) { return go_on(); }},

    // A host's session wants to stop. An agent that fixes nothing would be sent back forever; its illegal changes to
    // the plan are reverted after it has ended.
    Rule{"plan_out_of_order", kAtStop,
         [](const Case& c) { return c.now.plan.problems > 0 && c.now.plan.objections < c.policy.max_objections; },
         [](const Case& c) {
           return go_on(
               fmt::format("the plan has {}", count_of(static_cast<unsigned>(c.now.plan.problems), "problem")));
         }},
    Rule{"objections_spent", kAtStop, [](const Case& c) { return c.now.plan.problems > 0; },
         [](const Case&) {
           return stop(StopStatus::kLimit, "the agent was sent back often enough; it stops with the plan out of order");
         }},
    // A promise in the last allowed iteration counts, so it is checked first.
    Rule{"promise_accepted", kAtStop,
         [](const Case& c) {
           return c.now.signals.promised &&
                  (c.now.signals.worked.value_or(true) || c.policy.on_promise_no_work != PromiseWithoutWork::kReject);
         },
         [](const Case& c) { return stop(StopStatus::kComplete, why_accepted(c)); }},
    Rule{"cancelled", kAtStop, [](const Case& c) { return c.now.signals.cancelled; },
         [](const Case&) { return stop(StopStatus::kCancelled, "cancelled by the user while the agent was at work"); }},
    // The host wakes the session when such a task ends. It is not asked again for the same one: that may never end.
    Rule{"background_task_runs", kAtStop, [](const Case& c) { return c.waits_for_background(); },
         [](const Case& c) {
           return Decision{Action::kWait,
                           StopStatus::kNone,
                           {},
                           fmt::format("waiting for {} in the background",
                                       count_of(static_cast<unsigned>(c.now.signals.background), "task"))};
         }},
    Rule{"continuations_spent", kAtStop, [](const Case& c) { return c.last_iteration(); },
         [](const Case& c) {
           return stop(
               StopStatus::kLimit,
               fmt::format("{} done without {}", count_of(static_cast<unsigned>(c.policy.max_iterations), "iteration"),
                           c.now.signals.promised ? "work behind the promise" : "the promise"));
         }},
    Rule{"stagnant", kAtStop, [](const Case& c) { return c.stagnates(); },
         [](const Case& c) {
           return stop(
               StopStatus::kStagnant,
               fmt::format("{} in a row without a tool call; the agent said last: \"{}\"",
                           count_of(static_cast<unsigned>(c.now.signals.idle), "continuation"), c.now.signals.said));
         }},
    Rule{"promise_without_work", kAtStop, [](const Case& c) { return c.now.signals.promised; },
         [](const Case& c) {
           return go_on(fmt::format("the promise was made, but {} of at least {} done",
                                    count_of(static_cast<unsigned>(c.now.signals.tool_calls), "tool call"),
                                    c.policy.min_tool_calls));
         }},
    Rule{"promise_mentioned", kAtStop, [](const Case& c) { return c.now.signals.mentioned; },
         [](const Case&) { return go_on("the promise was mentioned in a sentence, not made"); }},
    Rule{"promise_missing", kAtStop, always, [](const Case&) { return go_on("the promise is missing"); }},

    // Between steps.
    Rule{"stop_requested", kNothingRuns, [](const Case& c) { return c.progress.stop_requests >= 1; },
         [](const Case&) { return stop(StopStatus::kInterrupted, "asked to stop"); }},
    Rule{"complete", kAfterChecks, [](const Case& c) { return !c.policy.plan && c.checks_passed() && c.answered(); },
         [](const Case& c) { return stop(StopStatus::kComplete, why_complete(c)); }},
    // A promise alone does not complete a plan: its stories do, with or without a promise.
    Rule{"plan_complete", kAfterChecks,
         [](const Case& c) { return c.policy.plan && c.checks_passed() && c.all_stories_done(); },
         [](const Case& c) { return stop(StopStatus::kComplete, why_plan_complete(c)); }},
    Rule{"run_time_spent", kNothingRuns, always,
         [](const Case& c) {
           return stop(StopStatus::kLimit, fmt::format("the run's {} are over (budget.maxMinutes)",
                                                       human_duration(c.policy.run_time_limit)));
         },
         [](const Case& c) { return c.run_time_due(); }},
    // After a successful turn its work is checked first: the checks cost nothing, and it may be complete.
    Rule{"budget_spent",
         {Moment::kBeforeIteration, Moment::kAfterTurn, Moment::kAfterChecks},
         [](const Case& c) {
           const bool checks_first = c.now.moment == Moment::kAfterTurn && c.turn_was({TurnOutcome::kOk});
           return !checks_first && (c.budget_spent() || c.stopped_by_budget());
         },
         [](const Case& c) { return stop(StopStatus::kLimit, budget_phrase(c)); }},
    Rule{"agent_refused", kAfterTurn, [](const Case& c) { return c.refused(); },
         [](const Case& c) { return stop(StopStatus::kFatal, c.progress.turn_reason); }},
    Rule{"awaited_file_is_there", kAfterTurn, [](const Case& c) { return c.now.signals.file_appeared; },
         [](const Case&) { return go_on(); }},
    Rule{"agent_limited", kAfterTurn, [](const Case& c) { return c.turn_was({TurnOutcome::kUsageLimit}); },
         wait_for_limit},
    Rule{"agent_overloaded", kAfterTurn,
         [](const Case& c) {
           return c.turn_was({TurnOutcome::kOverloaded}) && c.progress.overloads_in_row <= c.policy.overload_retries;
         },
         retry_overload},
    Rule{"agent_failed_retry", kAfterTurn,
         [](const Case& c) { return c.turn_failed() && c.progress.failed_attempts < c.policy.retry_attempts; },
         [](const Case& c) {
           Decision retry{Action::kRetry, StopStatus::kNone, {}, {}, backoff(c)};
           retry.reason = fmt::format(
               "the agent {}; try {} of {} in {}", c.turn_was({TurnOutcome::kEmpty}) ? "said nothing" : "crashed",
               c.progress.failed_attempts + 1, c.policy.retry_attempts, human_duration(retry.delay));
           return retry;
         }},
    Rule{"turn_ended", kAfterTurn, always, [](const Case&) { return go_on(); }},
    Rule{"changed_since_checks", kBetweenSteps, [](const Case& c) { return c.now.checks.outdated; },
         [](const Case&) {
           return Decision{
               Action::kCheckAgain, StopStatus::kNone, {}, "files were changed after the checks; they run again"};
         }},
    Rule{"step_ended", kBetweenSteps, always, [](const Case&) { return go_on(); }},
    Rule{"iterations_spent", kBetweenIterations, [](const Case& c) { return c.last_iteration(); },
         [](const Case& c) {
           return stop(
               StopStatus::kLimit,
               fmt::format("{} done, but {}", count_of(static_cast<unsigned>(c.policy.max_iterations), "iteration"),
                           what_is_missing(c)));
         }},
    Rule{"iteration_may_begin", {Moment::kBeforeIteration}, always, [](const Case&) { return go_on(); }},
    Rule{"checks_failed", kAfterChecks, [](const Case& c) { return !c.checks_passed(); },
         [](const Case& c) {
           const size_t failed = c.progress.guardrails_failed.size();
           return go_on(fmt::format("{} failed; the next prompt says so", count_of(failed, "guardrail")));
         }},
    Rule{"promise_too_early", kAfterChecks, [](const Case& c) { return c.policy.plan && c.answered(); },
         [](const Case& c) { return go_on(fmt::format("the agent promised too early: {}", stories_phrase(c))); }},
    Rule{"stories_left", kAfterChecks, [](const Case& c) { return c.policy.plan; },
         [](const Case& c) { return go_on(stories_phrase(c)); }},
    Rule{"not_answered", kAfterChecks, always,
         [](const Case& c) { return go_on(fmt::format("not complete: {}", what_the_agent_answered(c))); }},
};

constexpr auto kRuleNames = [] {
  std::array<std::string_view, kRules.size()> names{};
  for (size_t i = 0; i < kRules.size(); ++i) names[i] = kRules[i].name;
  return names;
}();

}  // namespace

int exit_code_of(StopStatus status) {
  constexpr std::array kCodes = {2, 0, 1, 2, 3, 130, 130, 1};
  return kCodes[static_cast<size_t>(status)];
}

Decision decide(const Policy& policy, const Progress& progress, const Observation& observation) {
  const Case c{policy, progress, observation};
  const Rule& rule = *std::find_if(kRules.begin(), kRules.end(), [&](const Rule& row) { return row.holds(c); });
  Decision decision = rule.decision(c);
  decision.rule = rule.name;
  return decision;
}

std::optional<Milliseconds> time_until_change(const Policy& policy, const Progress& progress,
                                              const Observation& observation) {
  const Case c{policy, progress, observation};
  std::optional<Milliseconds> soonest;
  for (const Rule& rule : kRules) {
    const Due due = rule.due && rule.moments.has(observation.moment) ? rule.due(c) : std::nullopt;
    if (!due) continue;
    const Milliseconds left = std::max(*due, Milliseconds(0));
    soonest = soonest ? std::min(*soonest, left) : left;
  }
  return soonest;
}

std::span<const std::string_view> rule_names() {
  return kRuleNames;
}

}  // namespace ralph
