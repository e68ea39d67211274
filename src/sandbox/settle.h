// Removes files that a mount can't protect because they did not exist, and whose mere existence makes a program on the
// host obey them. This happens after the program in the sandbox has ended and before anything on the host reads them.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace ralph {

// Moves every plan.forbidden path that has appeared to .ralph/taken in the project, and also anything that replaced a
// folder on the way to one. Returns a line for each.
Result<std::vector<std::string>> take_away_forbidden(const SandboxPlan& plan, std::string_view time);

// Moves `path` to .ralph/taken, under a name that starts with the time, and returns its new path.
Result<std::string> take_away(const std::string& project, const std::string& path, std::string_view time);

// The first path component on the way to `path` that is no longer a folder but a link or a file, so that what is below
// it is elsewhere. Empty if there is none.
std::string first_replaced_parent(const std::string& project, const std::string& path);

}  // namespace ralph
