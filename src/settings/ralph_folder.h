// The folder `.ralph` of a project: where ralph keeps its settings and everything it writes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/environment.h"

namespace ralph {

inline constexpr std::string_view kRalphFolder = ".ralph";

// Makes `.ralph` below `project` if it is missing, with a .gitignore that ignores all but settings.json, so that
// ralph's own files never make a tree dirty. A .gitignore that is there already is the user's and stays as it is. A
// `.ralph` that is a symlink is refused: an agent could have put it there to make ralph write elsewhere.
Status prepare_ralph_folder(const std::string& project);

// $XDG_STATE_HOME/ralph, or ~/.local/state/ralph: what ralph keeps outside of projects. Empty if the environment names
// no place.
std::string state_folder(const Environment& environment);

}  // namespace ralph
