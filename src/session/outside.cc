#include "session/outside.h"

#include "engine/iterations.h"
#include "session/contract.h"

namespace ralph {
namespace {

class Outside {
 public:
  Outside(RunContext& context, const Agent& agent, const LoopRequest& request, bool events)
      : context_(context), agent_(agent), events_(events) {
    state_.request = request;
  }

  Result<Decision> iterate() {
    const MonotonicTime started = context_.clock.monotonic();
    const int iteration = context_.log.progress().iteration + 1;
    state_.iteration = iteration;
    // Without a session to go on with (its first turn crashed), the task has to be told anew.
    const auto session = context_.log.progress().last_session;
    const int calls = context_.log.progress().tool_calls;
    const std::string prompt = session ? continuation(state_, last_rule_, 0, calls) : prompt_contract(state_.request);
    TRY(context_.log.note(record::IterationStarted{iteration}));
    TRY_VALUE(const Decision after_turn,
              take_turn(context_, {&agent_, 1}, prompt, events_, session, all_that_is_told(state_)));
    if (after_turn.action == Action::kStop) return after_turn;

    const Progress& progress = context_.log.progress();
    Observation now;
    now.moment = Moment::kAtStop;
    now.promised = progress.turn_outcome == "ok" && progress.response == state_.request.promise;
    now.tool_calls = progress.tool_calls;
    if (agent_.prints_events(events_)) now.worked = progress.tool_calls >= state_.request.min_tool_calls;
    TRY_VALUE(const Decision decision, ask(context_, now));
    last_rule_ = decision.rule;
    const Milliseconds duration = context_.clock.monotonic() - started;
    TRY(context_.log.note(record::IterationEnded{iteration, duration.count()}));
    TRY(context_.log.sync());
    return decision;
  }

 private:
  RunContext& context_;
  const Agent& agent_;
  bool events_;
  LoopState state_;
  std::string last_rule_;
};

}  // namespace

Result<Decision> run_session_loop(RunContext& context, const Agent& agent, const LoopRequest& request, bool events) {
  Outside loop(context, agent, request, events);
  return run_iterations(context, [&] { return loop.iterate(); });
}

}  // namespace ralph
