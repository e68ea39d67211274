// How every run starts and ends: the guardian, the lock of the project, the run's folder with its journal, and whoever
// watches. The caller makes the way in and drives it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/run.h"
#include "settings/settings.h"

namespace ralph::cli {

struct RunSetup {
  const LoadedSettings& loaded;
  std::string project;  // absolute
  bool verbose = false;
  bool json = false;
  Policy policy;
  int checks = 0;  // how many are shown at the start
};

// Makes the way in, notes the start of the run and drives it; in the guarded process.
using RunBody = std::function<Result<Decision>(Run&)>;

// Returns the exit code. Errors have been reported.
int start_run(const RunSetup& setup, const RunBody& body);

// The first record, written by the body when it knows its agents.
struct RunTitle {
  WayIn way;
  std::string agent, prompt_source, prompt;
};
Status note_start(Run& run, const RunTitle& title, const json::value& settings);

// Variables of all agents whose values may be secrets.
std::map<std::string, std::string> secret_candidates(const Settings& settings);

}  // namespace ralph::cli
