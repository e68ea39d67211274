// The task that a command refers to: by --root, --project and --task, or the task that the command runs in.
#pragma once

#include <array>

#include "cli/command.h"
#include "os/environment.h"
#include "task/place.h"

namespace ralph::cli {

inline constexpr std::array kTaskOptions = {
    Option{"root", 0, "DIR", "The folder that holds all projects and tasks (inside a task: its own root)."},
    Option{"project", 0, "P", "The project: the name of a folder below the root."},
    Option{"task", 0, "T", "The task: the name of a folder below the project."},
};

// An existing task. Inside a supervised task, no option is needed: the default is that task.
Result<TaskPlace> task_from(const Arguments& arguments);

// The root, and the project if one is given.
struct TaskRoot {
  std::string root, project;
};
Result<TaskRoot> task_root_from(const Arguments& arguments);

}  // namespace ralph::cli
