// The version of an installed agent, for the receipt of a run.
#pragma once

#include <string>

#include "agents/agent.h"

namespace ralph {

// Empty if it is not known. Looks at the package that its program belongs to; a program without one is asked, if its
// adapter says how, and ended if it takes longer than two seconds; one in the project is not. Never a failure.
std::string version_of(const Agent& agent, const Environment& environment, const std::string& project);

}  // namespace ralph
