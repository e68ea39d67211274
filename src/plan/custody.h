// For commands that replace a plan's files: keeps runs out meanwhile. ralph's own copy is removed with the plan.
#pragma once

#include <optional>
#include <string>

#include "os/lock.h"
#include "plan/plan_files.h"

namespace ralph {

struct PlanCustody {
  std::string authority;     // the path of ralph's own copy; empty: none
  std::optional<Lock> lock;  // keeps runs from starting; nullopt if there never was a run
};

// Fails with kBusy while a run works on the plan.
Result<PlanCustody> take_plan(const PlanFiles& files);

}  // namespace ralph
