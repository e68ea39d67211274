// The process that works on a task. It holds locks like a run in its project: one is in the task's folder.
#pragma once

#include "journal/run_lock.h"
#include "task/place.h"

namespace ralph {

LockPlace locks_of(const TaskPlace& place);

std::optional<LockOwner> supervisor_of(const TaskPlace& place);

// Takes both locks. Fails with kBusy if a supervisor works on the task.
Result<std::vector<Lock>> lock_task(const TaskPlace& place);

}  // namespace ralph
