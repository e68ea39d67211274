// Clean-room reviews: the agent of a review, and the checks of its iteration, work in a checkout of the commit under
// review, outside the project. Hooks, configuration, untracked and ignored files of the project are not there. Of what
// the review writes, ralph carries back the plan's files and the agents' memory; the rest is dropped, and named.
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

// Why the reviews of this run can't work in a clean room; empty: they do. Fails where plan.cleanRoom.mode is "on" and
// they can't. `plan.work_tree` must be known, or empty if there is no repository.
Result<std::string> clean_room_obstacle(const PlanRun& plan);

// For people, before a run: why its reviews are in the project, and the line to add. Empty: they are not, or the user
// wants it so.
std::string in_place_note(const PlanRun& plan);

class CleanRoom {
 public:
  // The references must outlive it.
  CleanRoom(Run& run, const PlanRun& plan);

  // Removes what killed runs of the same plan have left. Call it with the plan's lock.
  void begin();
  void remove();  // at the end of the run

  // Makes the room for a review of `commit`: the checkout, what plan.cleanRoom.setup makes, the plan's files. `keep`: a
  // turn of the same review has begun there, in an earlier process; what it left stays.
  Status open(const std::string& commit, const std::string& branch, const StoryFile& tasks, const PinnedFiles& pinned,
              bool keep);
  // For the checks of a review whose turn is over, in an earlier run: call reset() next.
  void open_for_checks(const std::string& commit, const std::string& branch);
  bool is_open() const { return open_; }
  void close() { open_ = false; }

  const PlanFiles& files() const { return files_; }  // of the project in the room
  LaunchChange change() const;                       // of everything that works there

  // What a review left there. Paths are from the work tree's top.
  struct Left {
    std::optional<std::string> tasks, progress;  // nullopt: no plain file is there
    std::vector<std::string> memory, dropped;
  };
  Result<Left> left() const;
  std::optional<std::string> read(const std::string& path) const;               // of the room; no links
  Result<std::optional<std::string>> committed(const std::string& path) const;  // of the commit under review

  // The tree of the commit again, for the checks.
  Status reset();
  // Files of the commit that the checks have changed.
  Result<std::vector<std::string>> moved() const { return checkout_.changed_files(); }

 private:
  Status set_up();
  Status fill(const StoryFile& tasks, const PinnedFiles& pinned);
  bool needs_setup() const;

  Run& run_;
  const PlanRun& plan_;
  const std::string rooms_;  // those of this plan
  CleanCheckout checkout_;
  PlanFiles files_;
  std::string plan_below_;  // the plan's folder from the top, with a slash
  std::string commit_, branch_;
  std::string set_up_at_;  // the commit that the setup has run for; empty: it has not
  int setups_ = 0;
  bool open_ = false;
};

}  // namespace ralph
