// Watches the files that make other programs run code (checks/triggers.h) during a run: snapshots them when it begins,
// compares them after each step, restores those that the agent may not change, and records the changes. A change that
// is only shown is reported once.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/triggers.h"
#include "engine/run.h"
#include "git/own_index.h"

namespace ralph {

class TriggerWatch {
 public:
  explicit TriggerWatch(Run& run) : run_(run) {}

  // For a run that was killed: restores what its last agent left changed, before anything can run it. Otherwise does
  // nothing. Returns the restored paths, as look() does.
  Result<std::vector<std::string>> after_kill();

  // Takes the snapshot at the start of the run, before any agent. A run that was killed keeps its original snapshot.
  Status begin();

  // Why a push with these arguments must not run: its target is not the one when the run began. Empty: it may run.
  Result<std::string> why_not_push(const std::vector<std::string>& words);

  // Compares, and restores if needed. Returns the restored paths in the project, because the agent may have committed
  // the changed versions.
  Result<std::vector<std::string>> look(StepKind after);

 private:
  record::ChangedFile handle(const Triggers::Change& change);
  OwnIndex own_index(TakenIndex taken);
  void report_hidden(const TakenIndex& taken);

  Run& run_;
  std::optional<Triggers> triggers_;
  std::set<std::string> reported_;
};

}  // namespace ralph
