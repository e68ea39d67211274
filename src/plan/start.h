// The state of a plan run before anything starts: which plan it begins with, and on which branch.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/assignment.h"
#include "plan/authority.h"
#include "plan/enforce.h"
#include "plan/plan_files.h"
#include "settings/settings.h"

namespace ralph {

struct PlanRun {
  PlanFiles files;
  LoadedSettings loaded;
  bool verbose = false, json = false;
  std::string authority;  // the path of the copy outside the project
  std::string work_tree;  // the top-level folder of the repository
  StoryFile tasks;
  // What the last run left: it was killed in the middle of an iteration (open; `tasks` is its copy), or asked to stop
  // before the checks (a step is pending; `tasks` is the current file).
  std::optional<SavedPlan> unfinished;
  PinnedFiles pinned;
  std::map<std::string, std::string> bases;  // by story: the commit before its first iteration
  std::vector<std::string> notes;            // for people, each without its full stop

  bool skip_review() const { return loaded.settings.plan.skip_review; }
  std::int64_t review_cap() const { return loaded.settings.plan.review_cap; }
  bool goes_on_from_copy() const { return unfinished && unfinished->open; }
};

// Loads the plan to begin with: the saved copy of a killed run, or (with `accept` always) the files of the project.
Status load_plan_files(PlanRun& run, bool accept);

// What an iteration of the run tells its agent. `run` must outlive it.
Assignment assignment_for(const PlanRun& run, const Work& work, int iteration, int max_iterations);

// Whether a run may begin with this plan.
Status check_state(const PlanRun& run);

// Why HEAD is the wrong place for commits, and the command that fixes it.
struct BranchFault {
  std::string problem, command;
  bool there = false;  // the plan's branch exists
};

// True: the branch was switched, so any file of the project may have changed. `may_switch` is asked if another branch
// than the plan's is checked out.
Result<bool> check_branch(const PlanRun& run, const std::function<Result<bool>(const BranchFault&)>& may_switch);

// Why a run would refuse to begin on this branch; empty if it would not.
std::string branch_note(const PlanRun& run);

}  // namespace ralph
