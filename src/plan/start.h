// A plan run, as far as it is known before anything starts: which plan it begins with, and on which branch.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/authority.h"
#include "plan/enforce.h"
#include "plan/pending.h"
#include "plan/plan_files.h"
#include "settings/settings.h"

namespace ralph {

struct PlanRun {
  PlanFiles files;
  LoadedSettings loaded;
  bool verbose = false, json = false;
  std::string authority;
  std::string work_tree;
  StoryFile tasks;
  std::optional<SavedPlan> unfinished;
  PinnedFiles pinned;
  std::map<std::string, std::string> bases;
  std::vector<std::string> notes;  // for people, each without its full stop

  bool skip_review() const { return loaded.settings.plan.skip_review; }
  std::int64_t review_cap() const { return loaded.settings.plan.review_cap; }
  bool goes_on_from_copy() const { return unfinished && unfinished->open; }
};

// The plan as this run begins with it: what a killed run kept outside, or what lies there. `accept`: always the latter.
Status load_plan_files(PlanRun& run, bool accept);

// Whether a run may begin with it.
Status check_state(const PlanRun& run);

// Why commits can't go where HEAD is, and the command that helps.
struct BranchFault {
  std::string problem, command;
  bool there = false;  // the plan's branch exists
};

// True: the branch was switched, so that all files of the project may be others now. `may_switch` is asked if another
// branch is checked out than the plan's.
Result<bool> check_branch(const PlanRun& run, const std::function<Result<bool>(const BranchFault&)>& may_switch);

// Why a run would refuse to begin on this branch; empty if it would not.
std::string branch_note(const PlanRun& run);

}  // namespace ralph
