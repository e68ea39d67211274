// The agents of a run: the one that the settings name, then its fallbacks.
#pragma once

#include <string>
#include <vector>

#include "agents/agent.h"
#include "settings/settings.h"

namespace ralph {

// Every agent has to exist and to be able to do what the settings ask: an agent that tells no cost can't be held to
// one. Errors say which setting to change.
Result<std::vector<Agent>> make_agents(const Settings& settings, const Environment& environment,
                                       const std::string& project);

// The same with another agent in the first place, which `setting` ("plan.agents.review") names; its fallbacks are those
// of the settings. An empty name changes nothing.
Result<std::vector<Agent>> make_agents_with(const std::string& first, std::string_view setting,
                                            const Settings& settings, const Environment& environment,
                                            const std::string& project);

// "claude, then codex"
std::string names_of(const std::vector<Agent>& agents);

}  // namespace ralph
