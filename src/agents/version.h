// The version of an installed agent, for the receipt of a run.
#pragma once

#include <string>

#include "agents/agent.h"

namespace ralph {

// Empty if unknown; never fails. Reads the npm package that the program belongs to. Otherwise runs a native program
// outside the project with its version flag, for at most two seconds.
std::string version_of(const Agent& agent, const Environment& environment, const std::string& project);

}  // namespace ralph
