// Clean-room reviews: the review's agent and the checks of its iteration work in a checkout of the commit under review,
// outside the project. The checkout has none of the project's hooks, configuration, untracked or ignored files. From
// what the review writes, ralph carries back the plan's files and the agents' memory files. The rest is dropped and
// reported.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/run.h"
#include "engine/turn.h"
#include "git/clean_checkout.h"
#include "plan/authority.h"
#include "plan/start.h"

namespace ralph {

// Why the reviews of this run can't work in a clean room; empty: they do. Fails if they can't although
// plan.cleanRoom.mode is "on". `plan.work_tree` must be set, or empty if there is no repository.
Result<std::string> clean_room_obstacle(const PlanRun& plan);

// A note to the user before a run: why its reviews work in the project, and which setting changes that. Empty if they
// work in a clean room, or if the user chose the project.
std::string in_place_note(const PlanRun& plan);

class CleanRoom {
 public:
  // The arguments must outlive it.
  CleanRoom(Run& run, const PlanRun& plan);

  // Removes the rooms of killed runs of the same plan. The caller must hold the plan's lock.
  void begin();
  void remove();  // at the end of the run

  // Prepares the room for a review of `commit`: the checkout, the output of plan.cleanRoom.setup, the plan's files.
  // `keep`: an earlier process began a turn of the same review there; its files are kept.
  Status open(const std::string& commit, const std::string& branch, const StoryFile& tasks, const PinnedFiles& pinned,
              bool keep);
  // For the checks of a review whose turn ended in an earlier run. Call reset() next.
  void open_for_checks(const std::string& commit, const std::string& branch);
  bool is_open() const { return open_; }
  void close() { open_ = false; }

  const PlanFiles& files() const { return files_; }  // the project's, in the room
  LaunchChange change() const;                       // for every program that works there

  // The files that a review left in the room. Paths are relative to the top of the work tree.
  struct Left {
    std::optional<std::string> tasks, progress;  // nullopt: missing, or not a plain file
    std::vector<std::string> memory, dropped;
  };
  Result<Left> left() const;
  std::optional<std::string> read(const std::string& path) const;               // in the room; follows no links
  Result<std::optional<std::string>> committed(const std::string& path) const;  // in the commit under review

  // Restores the tree of the commit, for the checks.
  Status reset();
  // Files of the commit that the checks have changed.
  Result<std::vector<std::string>> changed_by_checks() const { return checkout_.changed_files(); }

 private:
  Status set_up();
  Status fill(const StoryFile& tasks, const PinnedFiles& pinned);
  bool needs_setup() const;

  Run& run_;
  const PlanRun& plan_;
  const std::string rooms_;  // the folder of this plan's rooms
  CleanCheckout checkout_;
  PlanFiles files_;
  std::string plan_below_;  // the plan's folder relative to the top, with a trailing slash
  std::string commit_, branch_;
  std::string set_up_at_;  // the commit that the setup ran for; empty: it has not run
  int setups_ = 0;
  bool open_ = false;
};

}  // namespace ralph
