// The state of a task, for `ralph task list` and `ralph task status`, from its folder alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "journal/records.h"
#include "json/value.h"
#include "task/run_info.h"
#include "task/supervisor.h"

namespace ralph {

enum class TaskStatus { kNew, kRunning, kCompleted, kFailed, kStopped };
template <>
inline constexpr auto kWords<TaskStatus> = words({"new", "running", "completed", "failed", "stopped"});

struct TaskState {
  TaskPlace place;
  TaskStatus status = TaskStatus::kNew;
  std::string reason;  // why it ended
  std::string run_id;
  bool done = false, stop_requested = false, waits = false;
  std::optional<LockOwner> supervisor;
  std::vector<RunInfo> attempts, children;  // oldest first
  std::vector<std::string> depends;
};

// First corrects the attempts that a killed supervisor left running.
Result<TaskState> state_of(const TaskPlace& place);

json::object to_json(const TaskState& state);

// The tasks below all known roots whose run's id begins with `id`.
std::vector<TaskPlace> tasks_with_run(const Environment& environment, std::string_view id);

// The run of a task, from its journal: its start, nullopt if there is none yet; its id, empty if there is none.
std::optional<record::RunStarted> start_of(const TaskPlace& place);
std::string run_id_of(const TaskPlace& place);

}  // namespace ralph
