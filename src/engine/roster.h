// The agents of a run: the one named in the settings, then its fallbacks.
#pragma once

#include <string>
#include <vector>

#include "agents/agent.h"
#include "settings/settings.h"

namespace ralph {

// Every agent must exist and support what the settings ask for: a cost budget needs an agent that reports its cost.
// Errors say which setting to change.
Result<std::vector<Agent>> make_agents(const Settings& settings, const Environment& environment,
                                       const std::string& project);

// The same with another agent first, named by `setting` ("plan.agents.review"); the fallbacks are those of the
// settings. An empty name changes nothing.
Result<std::vector<Agent>> make_agents_with(const std::string& first, std::string_view setting,
                                            const Settings& settings, const Environment& environment,
                                            const std::string& project);

// "claude, then codex"
std::string names_of(const std::vector<Agent>& agents);

}  // namespace ralph
