#include "session/loop_state.h"

#include "base/text.h"
#include "engine/rules.h"
#include "journal/reader.h"
#include "os/files.h"
#include "session/loop_store.h"

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

std::optional<RunFolder> folder_of_run(const std::string& project, const std::string& id) {
  const std::string ralph = join_path(project, ".ralph"), runs = join_path(ralph, "runs"), path = join_path(runs, id);
  const bool there = is_run_id(id) && is_real_folder(ralph) && is_real_folder(runs) && is_real_folder(path);
  return there ? std::optional(RunFolder{id, path}) : std::nullopt;
}

Result<LoopRequest> read_request(const std::string& path) {
  if (!is_real_file(path)) return fail(ErrorKind::kNotFound, "{} is missing", path);
  TRY_VALUE(const std::string text, read_file(path));
  TRY_VALUE(const json::value value, parse_json(text, path));
  if (find_string(value, "completionPromise").value_or("").empty() ||
      find_integer(value, "maxIterations").value_or(0) < 1)
    return fail(ErrorKind::kInput, "{} is damaged: it has no promise or no limit; remove it", path);
  return from_json<LoopRequest>(value);
}

Result<std::optional<LoopState>> read_loop(const RunFolder& folder, bool tail) {
  const std::string path = join_path(folder.path, kJournalFile);
  TRY_VALUE(JournalReader reader, tail ? JournalReader::open_at_tail(path) : JournalReader::open(path));
  std::optional<LoopRequest> masked;
  Progress progress;
  std::vector<LoopDecision> decisions;
  std::vector<LoopCheck> results;
  const auto decided = [&](const record::Record& record, std::int64_t iteration, std::string_view what,
                           std::string_view rule, const std::string& reason) {
    decisions.push_back({to_iso8601(record.time), iteration, std::string(what), std::string(rule), reason});
  };
  for (;;) {
    TRY_VALUE(const auto record, reader.next());
    if (!record) break;
    const auto* decision = std::get_if<record::Decided>(&record->body);
    if (decision && decision->progress && progress == Progress{}) {
      progress = from_json<Progress>(*decision->progress);
    } else {
      progress = fold(std::move(progress), *record);
    }
    if (decision) {
      decided(*record, progress.iteration, to_string(decision->decision), decision->rule, decision->reason);
    } else if (const auto* check = std::get_if<record::GuardrailEnded>(&record->body)) {
      std::erase_if(results, [&](const LoopCheck& one) { return one.command == check->command; });
      results.push_back({to_iso8601(record->time), check->command, check->outcome, check->exit_code, check->log_file});
    } else if (const auto* started = std::get_if<record::RunStarted>(&record->body)) {
      if (started->way != WayIn::kSession) return std::optional<LoopState>();
      masked = from_json<LoopRequest>(started->settings);
    } else if (const auto* ended = std::get_if<record::RunEnded>(&record->body);
               ended && ended->status == StopStatus::kCancelled &&
               (decisions.empty() || decisions.back().rule != rules::kCancelled)) {
      decided(*record, progress.iteration, to_string(Action::kStop), rules::kCancelled, ended->reason);
    }
  }
  auto request = read_request(join_path(folder.path, kRequestFile));
  if (!request && request.error().kind != ErrorKind::kNotFound) return tl::unexpected(request.error());
  if (!request && !masked) return std::optional<LoopState>();
  LoopState state = loop_state_of(folder.id, request ? *request : *masked, progress);
  state.decisions = std::move(decisions);
  state.results = std::move(results);
  if (!tail) state.snapshots = load_snapshots(join_path(folder.path, kSnapshotsFile));
  state.trend = diagnostics::trend(state.snapshots);
  return std::optional(std::move(state));
}

}  // namespace ralph
