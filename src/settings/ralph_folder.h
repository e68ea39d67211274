// A project's `.ralph` folder, where ralph keeps its settings and everything it writes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/environment.h"

namespace ralph {

inline constexpr std::string_view kRalphFolder = ".ralph";

// Creates `.ralph` below `project` if missing, with a .gitignore for everything but settings.json, so that ralph's
// files never make a tree dirty. An existing .gitignore belongs to the user and is not changed. Refuses a `.ralph` that
// is a symlink: an agent could have created it to make ralph write elsewhere.
Status prepare_ralph_folder(const std::string& project);

// The same without cleaning up after interrupted writes. For use after each turn, because the agent may have removed
// the folder.
Status restore_ralph_folder(const std::string& project);

// $XDG_STATE_HOME/ralph, or ~/.local/state/ralph: ralph's files outside projects. Empty if neither is known.
std::string state_folder(const Environment& environment);

// Creates a folder in the state folder. An error says what to do; `why`: "a run keeps its lock and its seal there".
Status prepare_state_folder(const std::string& folder, std::string_view why);

// For a run without a state folder.
inline constexpr std::string_view kNoStateFolder =
    "neither XDG_STATE_HOME nor HOME is set to an absolute path: nothing outside the project protects this run, and "
    "'ralph runs resume' will refuse it";

// A file name for use there, for data about `path`: "<name>-<hash of the path>".
std::string state_name(std::string_view name, std::string_view path);

// A project's folder in the state folder; empty if there is no state folder.
std::string project_state_folder(const Environment& environment, const std::string& project);

// The lock in that folder (journal/run_lock.h); empty if there is no state folder.
std::string outer_lock(const Environment& environment, const std::string& project);

// The file in that folder that names the last record of a run's journal (journal/seal.h); empty if there is no state
// folder.
std::string seal_path(const std::string& project, const std::string& run_id);

// The content of that file; empty if there is none.
std::string seal_of(const std::string& project, const std::string& run_id);

}  // namespace ralph
