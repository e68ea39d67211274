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
  if (status == LoopStatus::kPromiseAccepted && request.no_promise) status = LoopStatus::kComplete;
  if (status == LoopStatus::kActive && !progress.host.ended.empty()) status = LoopStatus::kSessionEnded;
  return {.run = run,
          .request = request,
          .host = progress.host,
          .status = status,
          .iteration = progress.iteration,
          .updated = to_iso8601(progress.last_record),
          .reason = progress.outcome_note};
}

namespace {

// The same loop in the vocabulary of diagnostic loops, for other programs: docs/formats/loop.md.
json::object by_diagnostics(const LoopState& state) {
  json::object object;
  object["active"] = state.active();
  object["session_id"] = to_json_string(state.host.session);
  object["started_at"] = to_json_string(to_iso8601(state.host.since));
  object["updated_at"] = to_json_string(state.updated);
  object["iteration"] = state.iteration;
  object["max_iterations"] = state.request.max_iterations;
  object["task_description"] = to_json_string(state.request.task);
  if (!state.request.paths.empty()) object["target_files"] = to_json_array(state.request.paths);
  object["completion_criteria"] = json_from(state.request.criteria());
  json::array snapshots;
  for (const diagnostics::Snapshot& one : state.snapshots) snapshots.push_back(json_from(one));
  object["snapshots"] = std::move(snapshots);
  if (!state.active()) {
    object["completion_reason"] = to_json_string(state.reason);
    object["final_status"] = to_string(state.status);
  }
  return object;
}

}  // namespace

json::object to_json(const LoopState& state) {
  json::object object = json_from(state, {{"v", 2}});
  if (state.request.has_criteria()) object["loop_state"] = by_diagnostics(state);
  return object;
}

}  // namespace ralph
