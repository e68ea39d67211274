// Diagnostics as guardrails of a run: the collectors run one after another, each as a step of the run, so that its
// sandbox holds them and its signals and limits end them. What they said is a record, and a snapshot of the progress.
#pragma once

#include <string>

#include "checks/diagnostics/outset.h"
#include "engine/step.h"
#include "engine/turn.h"

namespace ralph {

// Whether the criteria of a run can be judged in this project: kInput if a tool is missing or nothing looks, with what
// to do. For before anything starts. `wanted_by`: who set the criteria, for the message.
Status check_criteria(const Policy& policy, const std::string& project, const Environment& environment,
                      std::string_view wanted_by = "settings: diagnostics.criteria");

// Before the first agent: what the run's diagnostics are compared with, so that no agent hides what it did
// (checks/diagnostics/outset.h). A run that goes on has it from its beginning.
Result<diagnostics::Outset> take_outset(const Run& run);

// Once, before the first agent: where the trend begins. It holds nothing.
Result<Decision> run_first_diagnostics(Run& run, diagnostics::Outset& outset);

// After the guardrails of an iteration, where these work (`change`). Without criteria it does nothing. Stops early only
// if a decision says so, and returns that decision.
Result<Decision> run_diagnostics(Run& run, diagnostics::Outset& outset, const LaunchChange& change = {});

}  // namespace ralph
