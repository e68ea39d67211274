// What a plan needs of this machine to be put in force: bubblewrap, the filter of system calls, and a group for limits.
#pragma once

#include "sandbox/limits.h"

namespace ralph {

// A program that makes a sandbox: never one that lies in the project. kNotFound if there is no other.
Result<std::string> program_outside(const std::string& name, const Environment& environment,
                                    const std::string& project);

struct Enclosure {
  Bubblewrap bubblewrap;
  ResourceGroup group;

  // `groups`: of limits that are there already; else one is made. Fails with kNotFound if bubblewrap is not installed.
  static Result<Enclosure> make(const SandboxLimits& limits, const Environment& environment, const std::string& folder,
                                const std::vector<std::string>& groups = {});

  Launch inside(const SandboxPlan& plan, Launch launch) const {
    return in_bubblewrap(plan, bubblewrap, std::move(launch));
  }

  // Starts a program that does nothing: what works here, tried and not concluded. The error says why it does not.
  Status try_out(const SandboxPlan& plan, const Environment& environment) const;
};

}  // namespace ralph
