// Checks a plan in its project: reads tasks.json, finds the state to compare it with, and queries git. For
// `ralph plan check` and the Stop hook.
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
  // The known state of the current iteration, most reliable first: ralph's own copy, then the marker's snapshot.
  std::optional<SavedPlan> authority;
  std::optional<Marker> marker;
  // Used if both are missing.
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::string words{};  // the last message of an agent that wants to stop: it may contain the verdict
};

// During an iteration, a missing tasks.json is reported as a problem; otherwise it is an error. Without git,
// uncommitted work is not checked.
Result<CheckReport> check_project(const ProjectCheck& project, const Repository& repository);

// Passes the plan's folder, and thereby the path of ralph's own copy, to an agent's hooks.
inline constexpr const char* kPlanDirVariable = "RALPH_PLAN_DIR";

// The iteration of this process's agent, which belongs to the run in $RALPH_RUN_ID, if ralph's own copy or else a
// marker says that the run works in `folder` or a parent of it. A marker without a run applies to every process.
// nullopt: no plan applies here. An unreadable marker is an error only if there is no copy: an agent may have damaged
// it.
Result<std::optional<ProjectCheck>> active_plan(const Environment& environment, const std::string& folder);

}  // namespace ralph
