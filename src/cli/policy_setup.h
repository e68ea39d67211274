// The command policy's inputs: the project, its settings, the user's home.
#pragma once

#include <string>

#include "os/environment.h"
#include "policy/command_policy.h"

namespace ralph::cli {

struct PolicySetup {
  CommandLists lists;
  PolicyPlace place;
  ShellSetting shell;
  std::string fault;  // why the project's settings could not be read; then only the built-in list applies
};

// `cwd`: where the host works, absolute.
PolicySetup policy_setup(const Environment& environment, const std::string& cwd);

}  // namespace ralph::cli
