// The folder `.ralph` of a project: where ralph keeps its settings and everything it writes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/environment.h"

namespace ralph {

inline constexpr std::string_view kRalphFolder = ".ralph";

// Creates `.ralph` below `project` if missing, with a .gitignore for everything but settings.json, so that ralph's
// files never make a tree dirty. An existing .gitignore is the user's and stays as it is. Refuses a `.ralph` that is a
// symlink: an agent could have put it there to make ralph write elsewhere.
Status prepare_ralph_folder(const std::string& project);

// $XDG_STATE_HOME/ralph, or ~/.local/state/ralph: ralph's files outside of projects. Empty if neither is known.
std::string state_folder(const Environment& environment);

// A file name there for what belongs to `path`: "<name>-<hash of the path>".
std::string state_name(std::string_view name, std::string_view path);

// The folder there for a project; empty if there is no state folder.
std::string project_state_folder(const Environment& environment, const std::string& project);

}  // namespace ralph
