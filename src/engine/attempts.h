// An agent's turn with all its attempts: after a crash, an overload or a usage limit, by the same agent or another.
#pragma once

#include <span>

#include "agents/agent.h"
#include "engine/turn.h"

namespace ralph {

// Those of an iteration: the preferred one first, as in the policy.
using Agents = std::span<const Agent>;

// The one that is to be asked now.
const Agent& agent_to_start(const Run& run, Agents agents);

struct NextTurn;  // engine/way.h

// Runs the agent until a decision is satisfied with how its turn ended, and returns that decision. Errors as
// run_step().
Result<Decision> take_turn(Run& run, const NextTurn& next);

}  // namespace ralph
