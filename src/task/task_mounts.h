// The parts of a task root that are visible in the sandbox of one task: its own folder, writable except for files that
// the supervisor trusts; the bus of its project; the tasks that it depends on, read-only. Other tasks are hidden, or
// read-only if the root is inside the project, which is visible as a whole.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"
#include "task/place.h"

namespace ralph {

// `socket`: where `ralph job` connects. `project`: where the agent works. Fails if the supervisor writes there.
Result<std::vector<Mount>> mounts_of_task(const TaskPlace& place, const std::vector<std::string>& depends,
                                          const std::string& socket, const std::string& project);

// The variables that describe its task to an agent, in addition to RALPH_*.
std::vector<std::string> variables_of_task();

// The log of requests that the sandbox's proxy refused, and the output of Docker's client while a task is in a machine.
inline constexpr std::string_view kTaskEgressLog = "egress.jsonl", kTaskMachineLog = "machine.log";

}  // namespace ralph
