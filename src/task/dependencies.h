// Which tasks a task waits for: task.yaml in its folder, so that a cycle is seen before anything waits for ever.
#pragma once

#include <string>
#include <vector>

#include "task/place.h"

namespace ralph {

// The tasks of the same project that `place` depends on, as recorded.
std::vector<std::string> dependencies_of(const TaskPlace& place);

// Records them. Refuses a task that is not there, the task itself, and a cycle; then nothing is changed.
Status set_dependencies(const TaskPlace& place, const std::vector<std::string>& names);

}  // namespace ralph
