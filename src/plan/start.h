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
  std::map<std::string, std::string> bases;      // by story: the commit before its first iteration
  std::vector<std::string> notes;                // for people, each without its full stop
  std::vector<std::string> added{};              // verify commands that agents added, in this run or an earlier one
  std::vector<std::string> unknown_approvals{};  // stories that are approved, and not by any run that ralph knows of
  std::string in_place{};                        // why reviews do not work in a clean checkout; empty: they do
  bool reopened = false;                         // `tasks` differs from the file: see reopen_unreviewed()

  bool skip_review() const { return loaded.settings.plan.skip_review; }
  std::int64_t review_cap() const { return loaded.settings.plan.review_cap; }
  bool goes_on_from_copy() const { return unfinished && unfinished->open; }
};

// Loads the plan to begin with: the saved copy of a killed run, or (with `accept` always) the files of the project.
Status load_plan_files(PlanRun& run, bool accept);

// Those of the verify commands that agents had added.
std::vector<std::string> still_added(const StoryList& tasks, const std::vector<std::string>& added);

// Keeps in ralph's own copy that a person has accepted these approvals.
Status keep_approvals(const PlanRun& run);

// Writes and commits a plan whose stories were reopened. Call it while nothing else works on the plan.
Status write_reopened(const PlanRun& run);

// What an iteration of the run tells its agent. `run` must outlive it.
Assignment assignment_for(const PlanRun& run, const Work& work, int iteration, int max_iterations);

// Whether a run may begin with this plan.
Status check_state(const PlanRun& run);

// Why HEAD is the wrong place for commits, and the command that fixes it.
struct BranchFault {
  std::string problem, command;
  bool there = false;      // the plan's branch exists
  bool detached = false;   // no branch is checked out
  std::string obstacle{};  // why ralph does not run the command unasked; empty: it does
};

// What the user said about switching to the plan's branch.
enum class BranchChoice {
  kAuto,    // a missing branch is made at HEAD; an existing one is switched to if nothing else is uncommitted
  kSwitch,  // --switch: whatever git itself allows
  kStay,    // --no-switch: the run works on the current branch
  kNever,   // this command has switched already
};

// Brings the work tree to the plan's branch. Returns what was done about it, for people; empty: nothing had to be, or
// the run stays. `may_switch` is asked where ralph does not switch by itself.
struct BranchChange {
  bool switched = false;  // any file of the project may have changed
  std::string note{};
};
Result<BranchChange> check_branch(const PlanRun& run, BranchChoice choice,
                                  const std::function<Result<bool>(const BranchFault&)>& may_switch);

// What a run would do about the branch, as a line; empty if nothing.
std::string branch_note(const PlanRun& run, BranchChoice choice);

}  // namespace ralph
