// What every way of running a loop shares: the guardian, the lock of the project, the run's folder with its journal,
// and whoever watches. The loop itself is the caller's.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/policy.h"
#include "engine/step.h"
#include "settings/settings.h"

namespace ralph::cli {

struct GuardedRun {
  const LoadedSettings& loaded;
  std::string project;  // absolute
  bool verbose = false;
  bool json = false;
  Policy policy;   // its agents are named by the body
  int checks = 0;  // how many are shown at the start
};

// Runs in the guarded process; the policy is the context's own.
using RunBody = std::function<Result<Decision>(RunContext&, Policy&)>;

// Returns the exit code. Errors have been reported.
int execute_guarded(const GuardedRun& run, const RunBody& body);

// The first record, written by the body when it knows its agents.
struct RunTitle {
  std::string way, agent, prompt_source, prompt;
};
Status note_start(RunContext& context, const RunTitle& title, const json::value& settings);

// Variables of all agents whose values may be secrets.
std::map<std::string, std::string> secret_candidates(const Settings& settings);

}  // namespace ralph::cli
