// Runs of any kind by their id, for `ralph runs`: those of a project, which stand in its .ralph, and those of
// supervised tasks, which stand in the tasks' own folders.
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

  std::string keeper() const { return task ? task->folder() : project; }  // whose seals vouch for it
  std::string shown_folder() const;                                       // as a user would type it
  bool lives() const;
};

// Newest first: the runs of this project, and those of all tasks that this user has started anywhere.
Result<std::vector<AnyRun>> all_runs(const std::string& project);

// The same without tasks that work elsewhere.
Result<std::vector<AnyRun>> runs_here(const std::string& project);

// One by its id or a beginning of it, wherever it is; "last": the newest one here. Errors are of kind kUsage.
Result<AnyRun> find_any_run(const std::string& project, std::string_view which);

}  // namespace ralph::cli
