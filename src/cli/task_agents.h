// The agents of a task or a child run: a typed command, or those of the settings.
#pragma once

#include <string>
#include <vector>

#include "agents/agent.h"
#include "settings/settings.h"

namespace ralph::cli {

Result<std::vector<Agent>> task_agents(const std::vector<std::string>& words, const Settings& settings,
                                       const Environment& environment, const std::string& folder);

}  // namespace ralph::cli
