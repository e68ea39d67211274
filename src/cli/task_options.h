// Which task a command is about: --root, --project, --task, or the task that the command runs in.
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

// A task that is there. Inside a supervised task nothing needs to be given: it is that one.
Result<TaskPlace> task_from(const Arguments& arguments);

// The root, and the project if one is given.
struct TaskRoot {
  std::string root, project;
};
Result<TaskRoot> task_root_from(const Arguments& arguments);

}  // namespace ralph::cli
