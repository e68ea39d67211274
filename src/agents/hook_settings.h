// Hooks that an agent gets for one run, besides those of the user's files, as its settings would have them.
#pragma once

#include <span>
#include <string>

#include "agents/adapter.h"

namespace ralph {

// As in a settings file of Claude Code, and of those who took over its form: {"hooks": {EVENT: [{matcher, hooks}]}}.
std::string hook_settings(std::span<const AgentHook> hooks);

}  // namespace ralph
