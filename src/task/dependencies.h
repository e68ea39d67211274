// The tasks that a task waits for. They are recorded in task.yaml in its folder, so a cycle is detected before anything
// waits forever.
#pragma once

#include <string>
#include <vector>

#include "task/place.h"

namespace ralph {

// The tasks of the same project that `place` depends on, as recorded.
std::vector<std::string> dependencies_of(const TaskPlace& place);

// Records them. Refuses a nonexistent task, the task itself, and a cycle; nothing is changed then.
Status set_dependencies(const TaskPlace& place, const std::vector<std::string>& names);

}  // namespace ralph
