// The command policy's inputs: the project, its settings, the user's home.
#pragma once

#include <string>
#include <vector>

#include "os/environment.h"
#include "policy/command_policy.h"

namespace ralph::cli {

struct PolicySetup {
  CommandLists lists;
  PolicyPlace place;
  ShellSetting shell;
  std::vector<std::string> faults;  // why the project's settings could not be read; then the built-in list applies
  std::vector<std::string> notes;   // which settings were ignored, and why
  std::vector<std::string> protected_paths{};  // patterns of protect.paths whose files must not be changed
};

// `cwd`: the host's working directory, absolute. `project`: the project that contains it.
PolicySetup policy_setup(const Environment& environment, const std::string& cwd, const std::string& project);

}  // namespace ralph::cli
