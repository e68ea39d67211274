// What this machine must provide to enforce a plan: bubblewrap, the system call filter, and a cgroup for limits.
#pragma once

#include "sandbox/limits.h"

namespace ralph {

// Finds a program that creates sandboxes, but never one inside the project. kNotFound if there is no other.
Result<std::string> program_outside(const std::string& name, const Environment& environment,
                                    const std::string& project);

struct Enclosure {
  Bubblewrap bubblewrap;
  ResourceGroup group;

  // `groups`: existing cgroups with the limits; if empty, one is created. Fails with kNotFound if bubblewrap is not
  // installed.
  static Result<Enclosure> make(const SandboxLimits& limits, const Environment& environment, const std::string& folder,
                                const std::vector<std::string>& groups = {});

  Launch inside(const SandboxPlan& plan, Launch launch) const {
    return in_bubblewrap(plan, bubblewrap, std::move(launch));
  }

  // Runs a no-op program in the sandbox, to test what works here instead of guessing. The error says why it does not
  // work.
  Status try_out(const SandboxPlan& plan, const Environment& environment) const;
};

}  // namespace ralph
