// What of a root of tasks is seen in the sandbox of one task: its own folder, writable but for what the supervisor
// believes; the bus of its project; the tasks that it depends on, read-only. Others are not seen, or read-only where
// the root is in the project, which is seen as a whole.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"
#include "task/place.h"

namespace ralph {

// `socket`: where `ralph job` asks. `project`: where the agent works. Fails if that is where the supervisor writes.
Result<std::vector<Mount>> mounts_of_task(const TaskPlace& place, const std::vector<std::string>& depends,
                                          const std::string& socket, const std::string& project);

// The variables that tell an agent of its task, besides RALPH_*.
std::vector<std::string> variables_of_task();

// The log of what the sandbox's proxy has refused, and what Docker's client says while a task is in its machine.
inline constexpr std::string_view kTaskEgressLog = "egress.jsonl", kTaskMachineLog = "machine.log";

}  // namespace ralph
