// ralph task gc: removes finished tasks.
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/registry.h"
#include "cli/task_options.h"
#include "os/clock.h"
#include "os/files.h"
#include "settings/ralph_folder.h"
#include "task/task_state.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    Option{"root", 0, "DIR", "The folder that holds all projects and tasks."},
    Option{"project", 0, "P", "Only tasks of this project."},
    Option{"older-than", 0, "DAYS", "Only tasks whose folder has not changed for this many days."},
    Option{"all", 0, "", "Also failed and stopped tasks, not only completed ones."},
    Option{"yes", 0, "", "Really remove them; without it they are only listed."},
};

WallTime last_change_of(const TaskState& state) {
  WallTime last{};
  for (const std::string& path : {state.place.folder(), state.place.done(), state.place.file("journal.jsonl")}) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) == 0) last = std::max(last, WallTime(std::chrono::seconds(info.st_mtim.tv_sec)));
  }
  return last;
}

Status remove_task(const TaskState& state) {
  // Held until the folder is gone, so that no supervisor starts in it meanwhile.
  const auto locks = lock_task(state.place);
  if (!locks) return fail(ErrorKind::kBusy, "{} is in use now", state.place.folder());
  std::error_code error;
  std::filesystem::remove_all(state.place.folder(), error);
  if (error) return fail(ErrorKind::kIo, "cannot remove {}: {}", state.place.folder(), error.message());
  if (const std::string seals = project_state_folder(Environment::of_this_process(), state.place.folder());
      !seals.empty())
    std::filesystem::remove_all(seals, error);  // best effort: leftover seals do no harm
  return {};
}

Result<int> collect_tasks(const Arguments& arguments) {
  TRY_VALUE(const TaskRoot root, task_root_from(arguments));
  TRY_VALUE(const std::optional<long> days, arguments.count("older-than"));
  if (!root.project.empty() && !is_directory(join_path(root.root, root.project)))
    return fail(ErrorKind::kUsage, "there is no project \"{}\" in {}", root.project, root.root);
  std::vector<TaskState> states;
  std::set<std::pair<std::string, std::string>> needed;
  for (const TaskPlace& place : tasks_in(root.root, root.project)) {
    TRY_VALUE(TaskState state, state_of(place));
    if (state.status != TaskStatus::kCompleted)
      for (const std::string& name : state.depends) needed.insert({place.project, name});
    states.push_back(std::move(state));
  }
  const WallTime now = SystemClock().wall();
  size_t count = 0;
  for (const TaskState& state : states) {
    const bool over =
        state.status == TaskStatus::kCompleted ||
        (arguments.has("all") && (state.status == TaskStatus::kFailed || state.status == TaskStatus::kStopped));
    const bool old = !days || now - last_change_of(state) > std::chrono::hours(24) * *days;
    if (!over || !old || needed.contains({state.place.project, state.place.task})) continue;
    if (arguments.has("yes")) TRY(remove_task(state));
    fmt::print("{}/{}  {}\n", state.place.project, state.place.task, to_string(state.status));
    ++count;
  }
  fmt::print("{}\n", arguments.has("yes")
                         ? fmt::format("Removed {}.", count_of(count, "task"))
                         : fmt::format("{} would be removed. Add --yes to remove them", count_of(count, "task")));
  return 0;
}

}  // namespace

const Command kTaskGc = {
    "task gc",
    "Remove finished tasks.",
    "Lists the completed tasks that would be removed together with their attempts; removes them with --yes. A running\n"
    "task is kept, and so is one that an unfinished task depends on.",
    "ralph task gc --root tasks\n"
    "ralph task gc --root tasks --older-than 30 --all --yes",
    kOptions,
    {},
    collect_tasks,
};

}  // namespace ralph::cli
