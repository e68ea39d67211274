// The checks of a plan where it lies: reads tasks.json, finds what it has to be compared with, asks git. For `ralph
// plan check` and the Stop hook.
#pragma once

#include <optional>
#include <string>

#include "git/repository.h"
#include "os/environment.h"
#include "plan/authority.h"
#include "plan/check.h"
#include "plan/marker.h"
#include "plan/plan_files.h"

namespace ralph {

struct ProjectCheck {
  PlanFiles files;
  // What is known of an iteration under way, the better one first: ralph's own copy, then the marker's snapshot.
  std::optional<SavedPlan> authority;
  std::optional<Marker> marker;
  // Without either of them.
  bool skip_review = false;
  std::int64_t review_cap = 5;
};

// A tasks.json that is gone is a problem of an iteration, and an error where none is under way. A project without git
// is not asked for uncommitted work.
Result<CheckReport> check_project(const ProjectCheck& project, const Repository& repository);

// Tells an agent's hooks where its plan lies, and with that where ralph's own copy of it is.
inline constexpr const char* kPlanDirVariable = "RALPH_PLAN_DIR";

// The iteration that this process's agent is in: of the run that $RALPH_RUN_ID names, if ralph's own copy or else a
// marker says that it works in `folder` or a folder above. A marker without a run binds everybody. Nothing: no plan has
// a say here. A marker that can't be read is an error only where ralph's own copy does not answer: an agent may have
// spoiled it.
Result<std::optional<ProjectCheck>> plan_in_charge(const Environment& environment, const std::string& folder);

}  // namespace ralph
