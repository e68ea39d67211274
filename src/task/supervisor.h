// The process that works on a task. Like a run in its project, it holds two locks: one in the task's folder, and one in
// the state folder, which survives if an agent removes the task's folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/lock.h"
#include "task/place.h"

namespace ralph {

struct Supervisor {
  std::string run_id, since;
  int pid = 0, loop = 0;  // the process that the user started, and the one that does the work
};
std::optional<Supervisor> supervisor_of(const TaskPlace& place);

// The line that names a supervisor in its locks.
std::string supervisor_line(const Supervisor& supervisor);

// Takes both locks. Fails with kBusy if a supervisor works on the task. Without a state folder, takes only the first.
Result<std::vector<Lock>> lock_task(const TaskPlace& place);

}  // namespace ralph
