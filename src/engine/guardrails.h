// Running the guardrails of one iteration, in order, each with its log and, if it fails, its message for the agent.
#pragma once

#include <span>

#include "engine/step.h"
#include "settings/settings.h"

namespace ralph {

struct GuardrailPlan {
  std::span<const GuardrailSettings> guardrails;
  size_t excerpt_characters = 5000;
  bool again = false;  // they ran in this iteration before: their logs are kept
};

// Runs them all; a failing one does not spare the others, so that the agent hears of everything at once. Stops early
// only if decide() says so, and returns that decision. Results are in the log's progress.
Result<Decision> run_guardrails(RunContext& context, const GuardrailPlan& plan);

}  // namespace ralph
