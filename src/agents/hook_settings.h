// Formats the hooks that ralph adds to an agent for one run, in the syntax of the agent's settings.
#pragma once

#include <span>
#include <string>

#include "agents/adapter.h"

namespace ralph {

// The settings syntax of Claude Code and of agents that adopted it: {"hooks": {EVENT: [{matcher, hooks}]}}.
std::string hook_settings(std::span<const AgentHook> hooks);

}  // namespace ralph
