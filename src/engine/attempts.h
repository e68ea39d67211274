// An agent's turn with all its attempts, by it or a fallback, after crashes, overloads and usage limits.
#pragma once

#include <span>

#include "agents/agent.h"
#include "engine/turn.h"

namespace ralph {

// The agents of an iteration, the preferred one first, as in the policy.
using Agents = std::span<const Agent>;

// The agent to start now.
const Agent& agent_to_start(const Run& run, Agents agents);

struct NextTurn;  // engine/way.h

// Runs the agent until the decision about its turn is not to retry, and returns that decision. Errors as run_step().
Result<Decision> take_turn(Run& run, const NextTurn& next);

}  // namespace ralph
