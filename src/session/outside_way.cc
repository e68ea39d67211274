#include "session/outside_way.h"

#include "session/contract.h"

namespace ralph {

Result<NextTurn> OutsideWay::next() {
  const Progress& progress = run_.progress();
  NextTurn next;
  next.agents = {&agent_, 1};
  next.events = events_;
  // Without a session to resume (its first turn crashed), the task must be given again.
  next.resume = progress.last_session;
  next.prompt = next.resume ? continuation(request_, progress.iteration, progress.last_rule, 0, progress.tool_calls)
                            : prompt_contract(request_);
  next.told = all_that_is_told(request_, progress.iteration);
  return next;
}

Result<Observation> OutsideWay::observe() {
  const Progress& progress = run_.progress();
  Observation now;
  now.moment = Moment::kAtStop;
  now.signals.promised = progress.turn_outcome == TurnOutcome::kOk && progress.response == request_.promise;
  now.signals.mentioned = progress.mentioned;
  now.signals.tool_calls = progress.tool_calls;
  now.signals.idle = progress.tool_calls > progress.last_stop.calls ? 0 : progress.last_stop.idle;
  if (now.signals.idle > 0) now.signals.said = progress.said;
  if (agent_.prints_events(events_)) now.signals.worked = progress.tool_calls >= request_.min_tool_calls;
  return now;
}

}  // namespace ralph
