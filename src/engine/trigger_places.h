// The locations of files that make other programs run code: those of git, those of the agents that ralph knows, and an
// agent's own program if it is in the project. See checks/triggers.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "checks/triggers.h"
#include "os/environment.h"

namespace ralph {

struct TriggerPlaces {
  std::vector<TriggerPlace> places;
  std::vector<std::string> roots;  // the project, and the repository's folders
};

// `programs`: words of the agents' command lines.
TriggerPlaces trigger_places(const std::string& project, const Environment& environment,
                             const std::vector<std::string>& programs);

// The words of the agents' command lines that may be their programs: the command itself, or the script that an
// interpreter runs.
std::vector<std::string> program_words(std::span<const Agent> agents);

// Whether the folder is in a git repository or has a .ralph folder.
bool is_project(const std::string& folder);

}  // namespace ralph
