// Running the checks of one iteration (guardrails and a plan's verify commands), in order, each with its log and, if it
// fails, its message for the agent.
#pragma once

#include <span>

#include "engine/step.h"
#include "engine/turn.h"
#include "settings/settings.h"

namespace ralph {

struct ChecksToRun {
  std::span<const GuardrailSettings> guardrails;
  size_t excerpt_characters = 5000;
  bool again = false;     // they already ran in this iteration: keep those logs
  LaunchChange change{};  // where they work, if not in the project
};

// Runs those with `baseline` once, before the first agent. Their outcome decides nothing; the counts of their tests are
// in the run's progress. Those that ran before are left out.
Result<Decision> run_baselines(Run& run, std::span<const GuardrailSettings> guardrails);

// Runs all checks: a failure does not skip the others, so that the agent gets all failures at once. Stops early only if
// a decision says so, and returns that decision. The results are in the run's progress.
Result<Decision> run_checks(Run& run, const ChecksToRun& checks);

}  // namespace ralph
