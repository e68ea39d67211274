#include "session/outside_way.h"

#include "base/text.h"
#include "session/contract.h"

namespace ralph {

Result<NextTurn> OutsideWay::next() {
  const Progress& progress = run_.progress();
  NextTurn next;
  next.agents = {&agent_, 1};
  next.events = events_;
  // Without a session to resume (its first turn crashed), give the task again.
  next.resume = progress.last_session;
  std::string failures;
  for (const Feedback& one : progress.feedback)
    failures += fmt::format("{}{}", failures.empty() ? "" : "\n\n", one.message);
  failures = without_promise_tag(failures, request_);
  // The iteration of a continuation is that of the stop before it.
  next.prompt = next.resume
                    ? continuation(request_, progress.iteration, progress.last_rule, 0, progress.tool_calls, failures)
                    : prompt_contract(request_);
  next.earlier_prompts = all_loop_texts(request_, progress.iteration);
  return next;
}

bool OutsideWay::is_promised() const {
  const Progress& progress = run_.progress();
  return progress.turn_outcome == TurnOutcome::kOk && progress.response == request_.promise;
}

// As in a session: checks run at a promise, or at every stop of a loop without a promise.
Result<IterationChecks> OutsideWay::checks() {
  IterationChecks checks;
  checks.diagnostics = request_.no_promise || is_promised();
  if (!checks.diagnostics) return checks;
  for (const std::string& command : request_.checks) checks.guardrails.emplace_back().command = command;
  return checks;
}

Result<Observation> OutsideWay::observe() {
  const Progress& progress = run_.progress();
  Observation now;
  now.moment = Moment::kAtStop;
  now.signals.promised = is_promised();
  now.checks.ran = request_.checks_in_all() > 0 && (request_.no_promise || now.signals.promised);
  if (now.checks.ran && request_.has_criteria()) {
    const Progress::Diagnostics& seen = progress.diagnosed;
    now.diagnostics = {.issues = seen.snapshots.empty() ? 0 : seen.snapshots.back().issues,
                       .summary = join(seen.unmet, ", "),
                       .stagnation = stagnation(seen.snapshots, request_.stagnation_limit)};
  }
  now.signals.mentioned = progress.mentioned;
  now.signals.tool_calls = progress.tool_calls;
  now.signals.idle = progress.tool_calls > progress.last_stop.calls ? 0 : progress.last_stop.idle;
  if (now.signals.idle > 0) now.signals.said = progress.said;
  if (agent_.prints_events(events_)) now.signals.worked = progress.tool_calls >= request_.min_tool_calls;
  return now;
}

}  // namespace ralph
