// The request of a `ralph task run`: its arguments, checked, on top of the settings.
#pragma once

#include "cli/command.h"
#include "cli/protection.h"
#include "engine/decide.h"
#include "settings/settings.h"
#include "task/task_way.h"

namespace ralph::cli {

struct TypedTask {
  TaskRequest request;
  LoadedSettings loaded;
  std::vector<std::string> words;  // of the command
  std::string project;             // where the agent works
  std::string typed_in;
  Policy policy;
  int restarts = 0;
  bool verbose = false, json = false;
  std::vector<std::string> arguments;
  Protection protection;
};

Result<TypedTask> task_from_arguments(const Arguments& arguments);

}  // namespace ralph::cli
