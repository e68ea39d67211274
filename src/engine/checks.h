// Running the checks of one iteration (guardrails and a plan's verify commands), in order, each with its log and, if it
// fails, its message for the agent.
#pragma once

#include <span>

#include "engine/step.h"
#include "settings/settings.h"

namespace ralph {

struct ChecksToRun {
  std::span<const GuardrailSettings> guardrails;
  size_t excerpt_characters = 5000;
  bool again = false;  // they ran in this iteration before: their logs are kept
};

// Runs them all; a failing one does not spare the others, so that the agent hears of everything at once. Stops early
// only if a decision says so, and returns that decision. Results are in the run's progress.
Result<Decision> run_checks(Run& run, const ChecksToRun& checks);

}  // namespace ralph
