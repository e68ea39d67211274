// Diagnostics as guardrails of a run. The collectors run one after another, each as a step of the run, so the run's
// sandbox, signals and limits apply to them. Their results become a record and a snapshot in the progress.
#pragma once

#include <string>

#include "checks/diagnostics/outset.h"
#include "engine/step.h"
#include "engine/turn.h"

namespace ralph {

// Checks, before anything starts, that the run's criteria can be judged in this project. Fails with kInput and advice
// if a tool is missing or no collector covers a criterion. `wanted_by`: who set the criteria, for the message.
Status check_criteria(const Policy& policy, const std::string& project, const Environment& environment,
                      std::string_view wanted_by = "settings: diagnostics.criteria");

// Takes, before the first agent, the state that later diagnostics are compared with, so that no agent can hide its
// errors (checks/diagnostics/outset.h). A resumed run loads the state from its first start.
Result<diagnostics::Outset> take_outset(const Run& run);

// Runs once, before the first agent, as the start of the trend. Its result blocks nothing.
Result<Decision> run_first_diagnostics(Run& run, diagnostics::Outset& outset);

// Runs after the guardrails of an iteration and in the same place (`change`). Does nothing without criteria. Stops
// early only if a decision says so, and returns that decision.
Result<Decision> run_diagnostics(Run& run, diagnostics::Outset& outset, const LaunchChange& change = {});

}  // namespace ralph
