// The runner's own copy of a plan, outside the project. The Stop hook compares the plan with it, and if a run is killed
// during an iteration, the next run continues from it. A live run only writes it: its memory is the authority.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "os/environment.h"
#include "os/lock.h"
#include "plan/pending.h"
#include "plan/plan_files.h"

namespace ralph {

// The files of a plan that agents must not change, and progress.txt, which they may only append to. nullopt: the file
// did not exist.
struct PinnedFiles {
  std::optional<std::string> prd, prompt, progress;
};

struct SavedPlan {
  // kOpen: an iteration is under way. kJudged: its result was judged and is final, but programs of the project are
  // still running. kClosed: nothing is running.
  enum class State { kOpen, kJudged, kClosed };

  std::string run_id, project, ralph_dir;
  std::string journal;  // the hash of the journal's last record when saved; empty: version 0.1
  std::int64_t iteration = 0;
  bool open = false;    // an iteration was under way: `tasks` is its starting point
  bool judged = false;  // its agent had ended and `tasks` is the result, but something was still running
  std::optional<Mode> mode;
  std::string story;
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::string tasks;  // the text of tasks.json
  PinnedFiles pinned;
  std::string room, room_plan;        // project and plan folder in a clean checkout, if the agent works there
  std::vector<std::string> accepted;  // stories whose approvals a person has since accepted
  std::vector<std::string> added;     // verify commands that agents added; all others are pinned
  std::vector<std::string> carried;   // files of a clean-checkout review that are already in the project

  // Stored in the run's journal, not in this file (except by version 0.1): see recall_from_journal().
  std::string words;     // the final message of its review, if the review had ended
  std::string head;      // the commit that the iteration began with; empty: unknown, or history was checked
  std::string reviewed;  // the commit that the run's last review began with
  // If not open: the step that waits for its checks. `tasks` and `pinned` are as the run left the files.
  std::optional<PendingStep> pending;
  std::map<std::string, std::string> bases;  // by story: the commit before its first iteration

  template <class V>
  void fields(V&& v) {
    v("runId", run_id), v("project", project), v("ralphDir", ralph_dir), v("iteration", iteration), v("open", open);
    v("judged", judged), v("iterationMode", mode), v("story", story), v("skipReview", skip_review);
    v("reviewCap", review_cap), v("tasks", tasks), v("journal", journal), v("prd", pinned.prd);
    v("prompt", pinned.prompt), v("accepted", accepted);
    v("progress", pinned.progress), v("room", room), v("roomPlan", room_plan), v("added", added);
    v("carried", carried);
  }
};

// The path of a plan's copy: $XDG_STATE_HOME/ralph/plans/<name>-<hash of the paths>.json. Each work tree of a
// repository has its own.
Result<std::string> authority_path(const Environment& environment, const std::string& ralph_dir);

// Creates the folder for the copy; fails if it is not writable.
Status make_copy_folder(const std::string& path);

Status save_plan(const std::string& path, const SavedPlan& plan);
Result<std::optional<SavedPlan>> load_plan(const std::string& path);  // nullopt if there is none

// Fills in the remaining fields from the journal of the copy's run, in `project`. Agents can write to a journal, so it
// is trusted only if its chain is intact and leads to the record that the copy names. Returns why the journal is not
// trusted; empty if it is.
std::string recall_from_journal(SavedPlan& plan, const std::string& project);

// The lock for running or replacing a plan. It is outside the project, because an agent could remove it there. Fails
// with kBusy while a run works on the plan.
Result<Lock> lock_plan(const std::string& path, const std::string& ralph_dir);

// For commands that replace a plan's files: keeps runs from starting meanwhile, and names the copy to remove.
struct PlanCustody {
  std::string authority;     // the path of ralph's own copy; empty: none
  std::optional<Lock> lock;  // nullopt if there never was a run
};

// Fails with kBusy while a run works on the plan.
Result<PlanCustody> take_plan(const PlanFiles& files);

// Removes the copy of a deleted plan. Otherwise the next plan would be compared with it.
Status forget_plan(const std::string& path);

}  // namespace ralph
