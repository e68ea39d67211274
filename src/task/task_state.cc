#include "task/task_state.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "engine/outline.h"
#include "journal/reader.h"
#include "journal/writer.h"
#include "os/files.h"
#include "task/dependencies.h"

namespace ralph {
namespace {

json::object to_json(const RunInfo& info) {
  json::object object;
  object["id"] = to_json_string(info.run_id);
  object["parent"] = to_json_string(info.parent_run_id);
  object["agent"] = to_json_string(info.agent);
  object["status"] = to_json_string(to_string(info.status));
  object["exitCode"] = info.exit_code;
  object["pid"] = info.pid;
  object["startTime"] = to_json_string(to_iso8601(info.start_time));
  object["endTime"] = info.end_time ? json::value(to_json_string(to_iso8601(*info.end_time))) : json::value();
  object["error"] = to_json_string(info.error_summary);
  object["folder"] = to_json_string(info.folder);
  return object;
}

}  // namespace

std::vector<TaskPlace> tasks_with_run(const Environment& environment, std::string_view id) {
  std::vector<TaskPlace> found;
  for (const std::string& root : known_roots(environment)) {
    for (TaskPlace& place : tasks_in(root)) {
      const std::string own = run_id_of(place);
      if (!own.empty() && own.starts_with(id)) found.push_back(std::move(place));
    }
  }
  return found;
}

std::optional<record::RunStarted> start_of(const TaskPlace& place) {
  auto reader = JournalReader::open(place.file(kJournalFile));
  const auto first = reader ? reader->next() : Result<std::optional<record::Record>>(std::nullopt);
  const auto* started = first && *first ? std::get_if<record::RunStarted>(&(*first)->body) : nullptr;
  return started ? std::optional(*started) : std::nullopt;
}

std::string run_id_of(const TaskPlace& place) {
  const auto started = start_of(place);
  return started ? started->run_id : "";
}

Result<TaskState> state_of(const TaskPlace& place) {
  TRY(correct_dead_attempts(place));
  TaskState state;
  state.place = place;
  state.supervisor = supervisor_of(place);
  const Outline run = outline_of(place.folder());
  if (run.start) state.run_id = run.start->run_id;
  state.stop_requested = path_exists(place.stop_request());
  state.depends = dependencies_of(place);
  std::vector<RunInfo> infos = run_infos_of(place);
  std::set<std::string> ids;
  for (const RunInfo& info : infos) ids.insert(info.run_id);
  for (RunInfo& info : infos)
    (ids.contains(info.parent_run_id) ? state.children : state.attempts).push_back(std::move(info));
  const auto done = is_done(place);
  state.done = done && *done;
  state.waits = !state.supervisor && run.progress.status == StopStatus::kWaiting && !state.done;
  const bool orphaned = std::ranges::any_of(state.attempts, is_alive);
  if (state.supervisor) {
    state.status = TaskStatus::kRunning;
  } else if (!done) {
    state.status = TaskStatus::kFailed, state.reason = done.error().message;
  } else if (state.done) {
    // If the run ended for another reason, DONE came later.
    state.status = TaskStatus::kCompleted;
    state.reason = run.progress.status == StopStatus::kComplete ? run.progress.outcome_note : "DONE exists";
  } else if (!run.start) {
    state.status = TaskStatus::kNew;
  } else if (!run.is_over()) {
    state.status = TaskStatus::kFailed;
    state.reason = orphaned ? "its supervisor was killed, but its agent is alive; 'ralph task stop' ends it"
                            : "its supervisor was killed; 'ralph task run' continues it";
  } else {
    const bool stopped = is_one_of(run.progress.status, std::array{StopStatus::kWaiting, StopStatus::kInterrupted});
    state.status = stopped ? TaskStatus::kStopped : TaskStatus::kFailed;
    state.reason = run.progress.outcome_note;
  }
  return state;
}

json::object to_json(const TaskState& state) {
  json::object object;
  object["project"] = to_json_string(state.place.project);
  object["task"] = to_json_string(state.place.task);
  object["folder"] = to_json_string(state.place.folder());
  object["status"] = to_json_string(to_string(state.status));
  object["reason"] = to_json_string(state.reason);
  object["runId"] = to_json_string(state.run_id);
  object["done"] = state.done;
  object["stopRequested"] = state.stop_requested;
  object["waits"] = state.waits;
  object["dependsOn"] = to_json_array(state.depends);
  object["pid"] = state.supervisor ? state.supervisor->pid : 0;
  object["since"] = to_json_string(state.supervisor ? state.supervisor->since : "");
  for (const auto& [key, infos] : {std::pair("attempts", &state.attempts), std::pair("children", &state.children)}) {
    json::array list;
    for (const RunInfo& info : *infos) list.emplace_back(to_json(info));
    object[key] = std::move(list);
  }
  return object;
}

}  // namespace ralph
