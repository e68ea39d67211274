// The process that works on a task. It holds two locks, as a run does in its project: one in the task's folder, and one
// in the state folder, which an agent does not remove with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/lock.h"
#include "task/place.h"

namespace ralph {

struct Supervisor {
  std::string run_id, since;
  int pid = 0, loop = 0;  // the process that was started, and the one that works
};
std::optional<Supervisor> supervisor_of(const TaskPlace& place);

// The line that names a supervisor in its locks.
std::string supervisor_line(const Supervisor& supervisor);

// Takes both; kBusy if a supervisor works on the task. Where there is no state folder, the first must do.
Result<std::vector<Lock>> lock_task(const TaskPlace& place);

}  // namespace ralph
