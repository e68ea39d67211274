#include "session/loop_state.h"

namespace ralph {

LoopStatus loop_status_of(StopStatus status) {
  if (status == StopStatus::kNone) return LoopStatus::kActive;
  if (status == StopStatus::kComplete) return LoopStatus::kPromiseAccepted;
  if (status == StopStatus::kStagnant) return LoopStatus::kStagnant;
  return status == StopStatus::kCancelled ? LoopStatus::kCancelled : LoopStatus::kMaxIterationsReached;
}

LoopState loop_state_of(const std::string& run, const LoopRequest& request, const Progress& progress) {
  LoopStatus status = loop_status_of(progress.status);
  if (status == LoopStatus::kActive && !progress.host.ended.empty()) status = LoopStatus::kSessionEnded;
  return {.run = run,
          .request = request,
          .host = progress.host,
          .status = status,
          .iteration = progress.iteration,
          .updated = to_iso8601(progress.last_record),
          .reason = progress.outcome_note};
}

json::object to_json(const LoopState& state) {
  return json_from(state, {{"v", 2}});
}

}  // namespace ralph
