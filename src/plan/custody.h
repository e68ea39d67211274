// For commands that replace a plan's files: no run may work on it meanwhile, and ralph's own copy goes with the plan.
#pragma once

#include <optional>
#include <string>

#include "os/lock.h"
#include "plan/plan_files.h"

namespace ralph {

struct PlanCustody {
  std::string authority;     // where ralph's own copy lies; empty: there can be none
  std::optional<Lock> lock;  // while it lives, no run begins; nothing if there never was one
};

// Fails with kBusy while a run works on the plan.
Result<PlanCustody> take_plan(const PlanFiles& files);

}  // namespace ralph
