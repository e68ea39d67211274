// How a task stands: what `ralph task list` and `ralph task status` tell, from its folder alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/value.h"
#include "task/run_info.h"

namespace ralph {

// The process that works on a task now.
struct Supervisor {
  std::string run_id, since;
  int pid = 0, loop = 0;  // the process that was started, and the one that works
};
std::optional<Supervisor> supervisor_of(const TaskPlace& place);

// The line that names a supervisor in its lock.
std::string supervisor_line(const Supervisor& supervisor);

struct TaskState {
  TaskPlace place;
  std::string status;  // "new", or as in run-info.yaml: running, completed, failed, stopped
  std::string reason;  // why it ended
  std::string run_id;
  bool done = false, stop_requested = false, waits = false;
  std::optional<Supervisor> supervisor;
  std::vector<RunInfo> attempts, children;  // oldest first
  std::vector<std::string> depends;
};

// Corrects what a killed supervisor left before it looks.
Result<TaskState> state_of(const TaskPlace& place);

json::object to_json(const TaskState& state);

// The run of a task: its id from its journal; empty if there is none yet.
std::string run_id_of(const TaskPlace& place);

}  // namespace ralph
