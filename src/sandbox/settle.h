// What a mount can't protect because it is not there: files whose mere existence makes a program of the host obey
// them. They are taken away when the program in the sandbox has ended, before anything on the host looks.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace ralph {

// Moves what has appeared of plan.forbidden to .ralph/taken of the project. Returns a line for each.
Result<std::vector<std::string>> take_away_forbidden(const SandboxPlan& plan, std::string_view time);

}  // namespace ralph
