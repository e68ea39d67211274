// Runs the checks of one iteration (guardrails and a plan's verify commands) in order. Each has a log and, if it fails,
// a message for the agent.
#pragma once

#include <span>

#include "engine/step.h"
#include "engine/turn.h"
#include "settings/settings.h"

namespace ralph {

struct ChecksToRun {
  std::span<const GuardrailSettings> guardrails;
  size_t excerpt_characters = 5000;
  bool again = false;     // they already ran in this iteration: keep the earlier logs
  LaunchChange change{};  // where they run, if not in the project
};

// Runs the guardrails with `baseline` once, before the first agent. Their outcome decides nothing; their test counts go
// into the run's progress. Skips those that have already run.
Result<Decision> run_baselines(Run& run, std::span<const GuardrailSettings> guardrails);

// Runs all checks. A failure does not skip the others, so the agent gets all failures at once. Stops early only if a
// decision says so, and returns that decision. The results go into the run's progress.
Result<Decision> run_checks(Run& run, const ChecksToRun& checks);

}  // namespace ralph
