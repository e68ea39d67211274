// Checks a plan in its project: reads tasks.json, finds the state to compare it with, asks git. For `ralph plan check`
// and the Stop hook.
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
  // The known state of an iteration under way, the more reliable first: ralph's own copy, then the marker's snapshot.
  std::optional<SavedPlan> authority;
  std::optional<Marker> marker;
  // Used without either of them.
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::string words{};  // the agent's last ones, if it wants to stop: they may hold its verdict
};

// A missing tasks.json is a problem during an iteration, otherwise an error. Without git, uncommitted work is not
// checked.
Result<CheckReport> check_project(const ProjectCheck& project, const Repository& repository);

// Tells an agent's hooks the plan's folder, and thereby the path of ralph's own copy.
inline constexpr const char* kPlanDirVariable = "RALPH_PLAN_DIR";

// The iteration of this process's agent: of the run in $RALPH_RUN_ID, if ralph's own copy or else a marker says that it
// works in `folder` or a folder above. A marker without a run binds everybody. nullopt: no plan applies here. An
// unreadable marker is an error only if there is no copy: an agent may have damaged it.
Result<std::optional<ProjectCheck>> plan_in_charge(const Environment& environment, const std::string& folder);

}  // namespace ralph
