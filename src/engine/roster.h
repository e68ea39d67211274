// The agents of a run: the one named in the settings, then its fallbacks.
#pragma once

#include <string>
#include <vector>

#include "agents/agent.h"
#include "settings/settings.h"

namespace ralph {

// Every agent must exist and support the settings: a cost budget needs an agent that reports its cost. Errors say which
// setting to change.
Result<std::vector<Agent>> make_agents(const Settings& settings, const Environment& environment,
                                       const std::string& project);

// The same with `first` as the preferred agent, which comes from `setting` ("plan.agents.review"). The fallbacks stay
// the same. An empty `first` changes nothing.
Result<std::vector<Agent>> make_agents_with(const std::string& first, std::string_view setting,
                                            const Settings& settings, const Environment& environment,
                                            const std::string& project);

// "claude, then codex"
std::string names_of(const std::vector<Agent>& agents);

}  // namespace ralph
