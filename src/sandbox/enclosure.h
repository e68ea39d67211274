// What a plan needs of this machine to be put in force: bubblewrap, the filter of system calls, and a group for limits.
#pragma once

#include "sandbox/limits.h"

namespace ralph {

struct Enclosure {
  Bubblewrap bubblewrap;
  ResourceGroup group;

  // Fails with kNotFound if bubblewrap is not installed.
  static Result<Enclosure> make(const SandboxLimits& limits, const Environment& environment, const std::string& folder);

  Launch inside(const SandboxPlan& plan, Launch launch) const {
    return in_bubblewrap(plan, bubblewrap, std::move(launch));
  }

  // Starts a program that does nothing: what works here, tried and not concluded. The error says why it does not.
  Status try_out(const SandboxPlan& plan, const Environment& environment) const;
};

}  // namespace ralph
