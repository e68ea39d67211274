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
// Symlinks in the paths are followed.
Result<PlanFiles> plan_folders(const Arguments& arguments);

}  // namespace ralph::cli
