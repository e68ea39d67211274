// What a mount can't protect because it is not there: files whose mere existence makes a program of the host obey
// them. They are taken away when the program in the sandbox has ended, before anything on the host looks.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace ralph {

// Moves what has appeared of plan.forbidden to .ralph/taken of the project, and what stands where a folder on the way
// was. Returns a line for each.
Result<std::vector<std::string>> take_away_forbidden(const SandboxPlan& plan, std::string_view time);

// Moves `path` to .ralph/taken, under a name that begins with the time, and returns where it is now.
Result<std::string> take_away(const std::string& project, const std::string& path, std::string_view time);

// The first folder on the way to `path` that is none any more, but a link or a file: what is below it is elsewhere.
// Empty: there is none.
std::string false_folder_on_the_way(const std::string& project, const std::string& path);

}  // namespace ralph
