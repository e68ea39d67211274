// Where files are that make other programs run code: those of git, of the agents that ralph knows, and an agent's own
// program if it lies in the project. See checks/triggers.h.
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

// The words of an agent's command line that may be its program: the command itself, or what an interpreter is to run.
std::vector<std::string> program_words(std::span<const Agent> agents);

// Whether the folder is in a repository or has settings of ralph's.
bool is_project(const std::string& folder);

}  // namespace ralph
