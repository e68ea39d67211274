#include "cli/any_run.h"

#include <algorithm>

#include "cli/live_run.h"
#include "os/files.h"
#include "task/task_state.h"

namespace ralph::cli {
namespace {

std::vector<AnyRun> runs_of_tasks() {
  std::vector<AnyRun> runs;
  for (TaskPlace& place : tasks_with_run(Environment::of_this_process(), "")) {
    const auto started = start_of(place);
    if (started) runs.push_back({{started->run_id, place.folder()}, started->project, std::move(place)});
  }
  return runs;
}

}  // namespace

std::string AnyRun::shown_folder() const {
  return task ? task->folder() : join_path(".ralph/runs", folder.id);
}

bool AnyRun::is_alive() const {
  return task ? supervisor_of(*task).has_value() : live_run(project) == folder.id;
}

Result<std::vector<AnyRun>> all_runs(const std::string& project) {
  TRY_VALUE(const std::vector<RunFolder> own, list_runs(project));
  std::vector<AnyRun> runs = runs_of_tasks();
  for (const RunFolder& folder : own) runs.push_back({folder, project, std::nullopt});
  std::ranges::stable_sort(runs, began_later, &AnyRun::folder);
  return runs;
}

Result<std::vector<AnyRun>> runs_here(const std::string& project) {
  TRY_VALUE(std::vector<AnyRun> runs, all_runs(project));
  std::erase_if(runs, [&](const AnyRun& run) { return !is_within(run.project, project); });
  return runs;
}

Result<AnyRun> find_any_run(const std::string& project, std::string_view which) {
  if (which == "last") {
    TRY_VALUE(std::vector<AnyRun> here, runs_here(project));
    if (!here.empty()) return std::move(here.front());
  }
  const auto own = find_run(project, which);
  if (own) return AnyRun{*own, project, std::nullopt};
  std::vector<AnyRun> fitting = runs_of_tasks();
  std::erase_if(fitting, [&](const AnyRun& run) { return !run.folder.id.starts_with(which); });
  if (fitting.size() == 1) return std::move(fitting.front());
  if (fitting.size() > 1)
    return fail(ErrorKind::kUsage, "{} runs of tasks begin with {}; give more of the id", fitting.size(), which);
  if (which == "last" || !list_runs(project).value_or(std::vector<RunFolder>()).empty() || runs_of_tasks().empty())
    return tl::unexpected(own.error());
  return fail(ErrorKind::kUsage, "there is no run \"{}\", neither here nor of a task; 'ralph runs list' shows all",
              which);
}

}  // namespace ralph::cli
