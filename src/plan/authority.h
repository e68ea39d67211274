// The runner's own copy of a plan, outside the project: what the Stop hook compares with, and what the next run goes on
// from when this one was killed in the middle of an iteration. While a run lives, its memory is the authority, and this
// file is only written.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "os/environment.h"
#include "os/lock.h"
#include "plan/modes.h"
#include "plan/pending.h"

namespace ralph {

// The files of a plan that agents must not change. Nothing: there was none.
struct PinnedFiles {
  std::optional<std::string> prd, prompt;
};

struct SavedPlan {
  // kOpen: an iteration is under way. kJudged: it was judged, and nothing may change any more but by an iteration; yet
  // programs of the project still run. kClosed: nothing runs.
  enum class State { kOpen, kJudged, kClosed };

  std::string run_id, project, ralph_dir;
  std::string journal;  // the hash of the last record of the run's journal when this was saved; empty: version 0.1
  std::int64_t iteration = 0;
  bool open = false;    // an iteration was under way: `tasks` is from before it
  bool judged = false;  // its agent has ended and `tasks` is what became of it, but something still ran
  std::optional<Mode> mode;
  std::string story;
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::string tasks;  // the text of tasks.json
  PinnedFiles pinned;

  // Not in the copy but in the run's journal (only version 0.1 kept them here): see recall_from_journal().
  std::string head;  // the commit that the iteration began with; empty: not known, or history was looked at
  // Not open: the step that waits for its checks. `tasks` and `pinned` are as the run left the files.
  std::optional<PendingStep> pending;
  std::map<std::string, std::string> bases;  // by story: the commit before its first iteration
};

// Where the copy of a plan lies: $XDG_STATE_HOME/ralph/plans/<name>-<hash of the paths>.json. Two work trees of one
// repository have two.
Result<std::string> authority_path(const Environment& environment, const std::string& ralph_dir);

// Makes the folder for it, and fails if nothing can be written there.
Status make_room_for_plan(const std::string& path);

Status save_plan(const std::string& path, const SavedPlan& plan);
Result<std::optional<SavedPlan>> load_plan(const std::string& path);  // nothing if there is none

// Takes what the copy does not hold from the journal of its run, in `project`. A journal lies where an agent can write:
// it is believed only if its chain is whole and leads to the record that the copy names. Returns why it is not; empty
// if it is.
std::string recall_from_journal(SavedPlan& plan, const std::string& project);

// For who works on a plan or replaces it. A lock outside the project: an agent can remove the one that is inside. Fails
// with kBusy while a run works on it.
Result<Lock> lock_plan(const std::string& path, const std::string& ralph_dir);

// The plan that it was a copy of is gone: nothing of it may be held against the next one.
Status forget_plan(const std::string& path);

}  // namespace ralph
