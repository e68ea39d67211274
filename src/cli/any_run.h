// Finds runs of any kind by their id, for `ralph runs`: runs of a project, in its .ralph, and runs of supervised tasks,
// in the tasks' own folders.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/run_folder.h"
#include "task/place.h"

namespace ralph::cli {

struct AnyRun {
  RunFolder folder;
  std::string project;            // the folder that its agents work in
  std::optional<TaskPlace> task;  // nullopt: it is the project's own

  std::string keeper() const { return task ? task->folder() : project; }  // the folder whose seals vouch for it
  std::string shown_folder() const;                                       // as a user would type it
  bool is_alive() const;
};

// The runs of this project and of all tasks that this user has started anywhere, newest first.
Result<std::vector<AnyRun>> all_runs(const std::string& project);

// The same, without tasks that work elsewhere.
Result<std::vector<AnyRun>> runs_here(const std::string& project);

// Finds one run by its id or the beginning of it, wherever it is; "last" is the newest one here. Errors are kUsage.
Result<AnyRun> find_any_run(const std::string& project, std::string_view which);

}  // namespace ralph::cli
