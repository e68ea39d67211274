// An agent's turn with all its attempts: after a crash, an overload or a usage limit, by the same agent or another.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "agents/agent.h"
#include "engine/step.h"

namespace ralph {

// Those of an iteration: the preferred one first, as in the policy.
using Agents = std::span<const Agent>;

// The one that is to be asked now.
const Agent& agent_to_start(const RunContext& context, Agents agents);

// Runs the agent until decide() is satisfied with how its turn ended, and returns that decision. `events`: ask for a
// stream of events where the agent has one. `resume`: a session to go on with; `told`: what it was told before. Errors
// as run_step().
Result<Decision> take_turn(RunContext& context, Agents agents, const std::string& prompt, bool events,
                           const std::optional<Progress::Session>& resume = {}, const std::string& told = {});

}  // namespace ralph
