// The state of a plan run before anything starts: the plan to begin with, and the branch to work on.
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
  // The state of the last run, if it was killed during an iteration (open; `tasks` is its copy) or asked to stop before
  // the checks (a step is pending; `tasks` is the current file).
  std::optional<SavedPlan> unfinished;
  PinnedFiles pinned;
  std::map<std::string, std::string> bases;      // by story: the commit before its first iteration
  std::vector<std::string> notes;                // for people, each without its full stop
  std::vector<std::string> added{};              // verify commands that agents added, in this run or an earlier one
  std::vector<std::string> unknown_approvals{};  // stories approved by no run that ralph knows of
  std::string in_place{};                        // why reviews do not work in a clean checkout; empty: they do
  bool reopened = false;                         // `tasks` differs from the file: see reopen_unreviewed()

  bool skip_review() const { return loaded.settings.plan.skip_review; }
  std::int64_t review_cap() const { return loaded.settings.plan.review_cap; }
  bool continues_from_copy() const { return unfinished && unfinished->open; }
};

// Loads the plan to begin with: the saved copy of a killed run unless `accept` is set, else the project's files.
Status load_plan_files(PlanRun& run, bool accept);

// The verify commands of `tasks` that are in `added`.
std::vector<std::string> still_added(const StoryList& tasks, const std::vector<std::string>& added);

// Records in ralph's own copy that a person has accepted the unknown approvals.
Status keep_approvals(const PlanRun& run);

// Writes and commits a plan whose stories were reopened. Nothing else may work on the plan meanwhile.
Status write_reopened(const PlanRun& run);

// The assignment for an iteration's agent. `run` must outlive it.
Assignment assignment_for(const PlanRun& run, const Work& work, int iteration, int max_iterations);

// Fails if a run must not begin with this plan.
Status check_state(const PlanRun& run);

// Why HEAD is the wrong place for commits, and the command that fixes it.
struct BranchFault {
  std::string problem, command;
  bool there = false;      // the plan's branch exists
  bool detached = false;   // no branch is checked out
  std::string obstacle{};  // why ralph does not run the command without asking; empty: it does
};

// The user's choice about switching to the plan's branch.
enum class BranchChoice {
  kAuto,    // creates a missing branch at HEAD; switches to an existing one if nothing else is uncommitted
  kSwitch,  // --switch: always, if git allows it
  kStay,    // --no-switch: the run works on the current branch
  kNever,   // this command has already switched
};

// Brings the work tree to the plan's branch. `may_switch` is asked where ralph does not switch by itself.
struct BranchChange {
  bool switched = false;  // any file of the project may have changed
  std::string note{};     // what was done, for people; empty: nothing had to be done
};
Result<BranchChange> check_branch(const PlanRun& run, BranchChoice choice,
                                  const std::function<Result<bool>(const BranchFault&)>& may_switch);

// One line on what a run would do about the branch; empty if nothing.
std::string branch_note(const PlanRun& run, BranchChoice choice);

}  // namespace ralph
