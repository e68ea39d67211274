#include "cli/live_run.h"

#include "engine/outline.h"
#include "os/environment.h"
#include "os/files.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {

LockPlace locks_of_project(const std::string& project) {
  return {join_path(project, ".ralph/lock"), outer_lock(Environment::of_this_process(), project)};
}

std::optional<std::string> live_run(const std::string& project) {
  const auto owner = owner_of(locks_of_project(project));
  return owner && !owner->run_id.empty() ? std::optional(owner->run_id) : std::nullopt;
}

std::optional<KilledRun> killed_run(const std::string& project, const std::string& except) {
  const auto folders = list_runs(project);
  for (const RunFolder& folder : folders.value_or(std::vector<RunFolder>())) {
    if (folder.id == except) continue;
    const Outline run = outline_of(folder.path);
    if (run.start && run.start->way == WayIn::kSession) continue;
    if (run.began == WallTime{} || run.is_over() || live_run(project) == folder.id) return std::nullopt;
    return KilledRun{folder, run.began};
  }
  return std::nullopt;
}

}  // namespace ralph::cli
