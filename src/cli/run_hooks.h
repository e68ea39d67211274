// The hooks that a plan run passes to its agents by flags or environment: the stop check, the context monitor and the
// command policy. The user's files are not changed.
#pragma once

#include <string>
#include <vector>

#include "agents/agent.h"

namespace ralph::cli {

// From now on, the agent is started with those hooks. False if it can't be given any.
bool give_hooks(Agent& agent);

// One line for each kind of agent, which says that it has the hooks, or that it has none and what that means.
std::string describe_hooks(const std::vector<Agent>& with, const std::vector<Agent>& without);

}  // namespace ralph::cli
