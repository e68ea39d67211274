// What `ralph doctor` finds, for its parts.
#pragma once

#include <string>
#include <vector>

#include "os/environment.h"

namespace ralph::cli {

enum class Health { kOk, kNote, kProblem };

struct Finding {
  Health health;
  std::string what;
  std::string detail;
  std::string fix{};  // what to do about it
};

// The first line of what `program --version` prints; empty if it does not.
std::string version_of(const std::string& program, const Environment& environment);

// The hooks of all hosts, in this project and of the user, and the plugin.
void check_hooks(std::vector<Finding>& findings, const Environment& environment, const std::string& project);

}  // namespace ralph::cli
