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

// The same, but leaves alone what interrupted writes left in it: for after each turn, as the agent may have removed it.
Status restore_ralph_folder(const std::string& project);

// $XDG_STATE_HOME/ralph, or ~/.local/state/ralph: ralph's files outside of projects. Empty if neither is known.
std::string state_folder(const Environment& environment);

// A file name there for what belongs to `path`: "<name>-<hash of the path>".
std::string state_name(std::string_view name, std::string_view path);

// The folder there for a project; empty if there is no state folder.
std::string project_state_folder(const Environment& environment, const std::string& project);

// The file there that names the last record of a run's journal (journal/seal.h); empty if there is no place for it.
std::string seal_path(const std::string& project, const std::string& run_id);

// What it says; empty: nothing.
std::string seal_of(const std::string& project, const std::string& run_id);

}  // namespace ralph
