// The request of a `ralph task run`: its arguments, checked, on top of the settings.
#pragma once

#include "cli/start_run.h"
#include "task/task_way.h"

namespace ralph::cli {

struct TypedTask {
  RunSetup setup;  // its project is where the agent works
  TaskRequest request;
  std::vector<std::string> words;  // of the command
  int restarts = 0;
};

Result<TypedTask> task_from_arguments(const Arguments& arguments);

}  // namespace ralph::cli
