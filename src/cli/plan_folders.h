// -d and --ralph-dir, the options of every plan command.
#pragma once

#include "cli/agent_options.h"
#include "cli/command.h"
#include "plan/plan_files.h"
#include "settings/settings.h"

namespace ralph::cli {

inline constexpr Option kProjectDirOption =
    on_resume({"project-dir", 'd', "PATH", "The project (default: the current folder)."});
inline constexpr Option kRalphDirOption =
    on_resume({"ralph-dir", 0, "PATH", "The plan's folder (default: ralph in the project)."});

// Both paths are relative to the current folder. The project must be a folder; the plan's folder need not exist.
// Symlinks in the paths are followed. Without -d, the project is the current folder if it has a plan or settings, or
// else the folder above it that has the settings of this repository.
Result<PlanFiles> plan_folders(const Arguments& arguments);

// The same for a command that changes something. Prints a note if the project is not the current folder.
Result<PlanFiles> plan_folders_to_change(const Arguments& arguments);

}  // namespace ralph::cli
