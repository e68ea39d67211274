// An agent's turn with all its attempts: retries after crashes and overloads, and fallbacks during usage limits.
#pragma once

#include <span>

#include "agents/agent.h"
#include "engine/turn.h"

namespace ralph {

// The agents of an iteration, preferred one first, as in the policy.
using Agents = std::span<const Agent>;

// The agent to start now.
const Agent& agent_to_start(const Run& run, Agents agents);

struct NextTurn;  // engine/way.h

// Runs the agent until the decision is not to retry, and returns that decision. Errors as in run_step().
Result<Decision> take_turn(Run& run, const NextTurn& next);

}  // namespace ralph
