// Which run of a project is alive, and what a killed one left behind.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "journal/run_folder.h"
#include "journal/run_lock.h"

namespace ralph::cli {

LockPlace locks_of_project(const std::string& project);

// The id of the run that is active here. It holds two locks, one of which an agent may have removed.
std::optional<std::string> live_run(const std::string& project);

struct KilledRun {
  RunFolder folder;
  WallTime began;
};

// The newest run of the project, other than `except`, if its journal has no end and the run is not alive. Session loops
// are skipped: their host does the looping.
std::optional<KilledRun> killed_run(const std::string& project, const std::string& except = {});

}  // namespace ralph::cli
