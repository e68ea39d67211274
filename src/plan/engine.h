// The plan loop: each iteration one story, one mode, one fresh agent; afterwards ralph itself checks what was done to
// the plan, takes back what was not allowed, runs the checks, and decides what becomes of the story.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "engine/attempts.h"
#include "engine/step.h"
#include "plan/authority.h"
#include "plan/enforce.h"
#include "plan/marker.h"
#include "plan/plan_files.h"
#include "settings/settings.h"

namespace ralph {

struct PlanLoop {
  const Settings& settings;
  Policy& policy;  // the context's own; which agents it names changes with the mode
  RunContext& context;
  PlanFiles files;
  std::array<Agents, 3> agents;  // by Mode
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::string authority{};  // where the copy outside the project is kept
  std::string work_tree{};  // the uppermost folder of the repository
  StoryFile tasks{};         // what the run begins with
  // What the last run left: killed in the middle of an iteration (it is open, and `tasks` is its copy), or asked to
  // stop before the checks (a step is pending, and `tasks` is what lies there now).
  std::optional<SavedPlan> unfinished{};
  PinnedFiles pinned{};
  std::map<std::string, std::string> bases{};  // by story: the commit before its first iteration
  Marker marker{};
};

// Runs to the end, which is always recorded.
Result<Decision> run_plan_loop(PlanLoop loop);

}  // namespace ralph
