#include "engine/iterations.h"

namespace ralph {
namespace {

Result<Decision> until_stopped(RunContext& context, const std::function<Result<Decision>()>& iterate) {
  for (;;) {
    TRY_VALUE(const Decision begin, ask(context, {Moment::kBeforeIteration}));
    if (begin.action == Action::kStop) return begin;
    TRY_VALUE(const Decision end, iterate());
    if (end.action == Action::kStop) return end;
  }
}

Status note_end(RunContext& context, StopStatus status, const std::string& reason) {
  record::RunEnded ended;
  ended.status = to_string(status);
  ended.reason = reason;
  ended.exit_code = exit_code_of(status);
  ended.iterations = context.log.progress().iteration;
  ended.duration_ms = (context.clock.monotonic() - context.started).count();
  ended.tokens = context.log.progress().tokens.total();
  ended.cost_usd = context.log.progress().cost_usd;
  TRY(context.log.note(std::move(ended)));
  return context.log.sync();
}

}  // namespace

Result<Decision> run_iterations(RunContext& context, const std::function<Result<Decision>()>& iterate) {
  return conclude(context, until_stopped(context, iterate));
}

Result<Decision> conclude(RunContext& context, Result<Decision> decision) {
  if (!decision) {
    // Where the disk is full this note fails too; the error itself says so to the user.
    static_cast<void>(note_end(context, StopStatus::kFatal, decision.error().message));
    return decision;
  }
  TRY(note_end(context, decision->status, decision->reason));
  return decision;
}

}  // namespace ralph
