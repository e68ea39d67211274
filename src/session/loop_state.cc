#include "session/loop_state.h"

namespace ralph {

LoopStatus loop_status_of(StopStatus status) {
  switch (status) {
    case StopStatus::kNone:
      return LoopStatus::kActive;
    case StopStatus::kComplete:
      return LoopStatus::kPromiseAccepted;
    case StopStatus::kCancelled:
      return LoopStatus::kCancelled;
    default:
      return LoopStatus::kMaxIterationsReached;
  }
}

LoopState loop_state_of(const LoopRequest& request, const Progress& progress) {
  const Progress::Host& host = progress.host;
  LoopState state;
  state.request = request;
  state.session = host.session;
  state.status = loop_status_of(progress.status);
  state.iteration = progress.iteration;
  state.started = to_iso8601(host.since);
  state.updated = to_iso8601(progress.last_record);
  state.transcript = host.transcript;
  state.transcript_start = host.transcript_start;
  state.transcript_read = host.transcript_read;
  state.transcript_calls = host.transcript_calls;
  state.recent_calls = host.recent_calls;
  state.refused_late = host.refused_late;
  state.tree = host.tree;
  state.reason = progress.outcome_note;
  return state;
}

json::object to_json(const LoopState& state) {
  json::object object;
  object["v"] = 2;
  const_cast<LoopState&>(state).fields(FieldWriter{object});
  return object;
}

}  // namespace ralph
