// Watches the files that make other programs run code (checks/triggers.h) during a run: takes them when it begins,
// compares after each step, puts back what the agent may not change, and records it. What is only shown is told once.
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

  // For a run that was killed: puts back what its last agent left changed, before that runs. Else it does nothing.
  Result<std::vector<std::string>> after_kill();

  // At the start of the run, before any agent; for a run that was killed, what it took then stays.
  Status begin();

  // Why a push, with these words after it, must not run: it goes elsewhere than when the run began. Empty: it may.
  Result<std::string> why_not_push(const std::vector<std::string>& words);

  // Compares. The paths in the project that were put back are returned: the agent may have committed them.
  Result<std::vector<std::string>> look(StepKind after);

 private:
  record::ChangedFile handle(const Triggers::Change& change);
  OwnIndex own_index(TakenIndex taken);
  void tell_hidden(const TakenIndex& taken);

  Run& run_;
  std::optional<Triggers> triggers_;
  std::set<std::string> told_;
};

}  // namespace ralph
