// The hooks that a plan run gives its agents by their flags: the stop check, the context monitor and the command
// policy. The user's files stay as they are.
#pragma once

#include <string>
#include <vector>

#include "agents/agent.h"

namespace ralph::cli {

// Has the agent started with those hooks from now on. False: it takes none by its flags.
bool give_hooks(Agent& agent);

// One line for each kind of agent: that it has the hooks, or that it has none and what that means.
std::string describe_hooks(const std::vector<Agent>& with, const std::vector<Agent>& without);

}  // namespace ralph::cli
