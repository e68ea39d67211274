// Where runs are kept: .ralph/runs/<id>/, one folder per run, for its owner alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/environment.h"

namespace ralph {

// "20261115-202233-7f3a": the second in which the run began, UTC, and four random hexadecimal digits.
std::string new_run_id(WallTime now);
bool is_run_id(std::string_view text);

// The id of the run that started this process's agent (RALPH_RUN_ID); empty: no run did. Hooks leave loops to that run.
std::string enclosing_run_id(const Environment& environment);

struct RunFolder {
  std::string id;
  std::string path;
};

// Makes a folder that was not there before. Ids sort in the order in which runs began: if another run of the same
// second has this id or a later one, the folder gets a later id. A `.ralph` or `runs` that is a symlink is refused, for
// what it points to may be anything.
Result<RunFolder> create_run_folder(const std::string& project, std::string id);

// Newest first. A project without runs has none; that is no error.
Result<std::vector<RunFolder>> list_runs(const std::string& project);

// By id, by the beginning of one if only one begins so, or "last". Errors are of kind kUsage and name ids that are
// near.
Result<RunFolder> find_run(const std::string& project, std::string_view text);

}  // namespace ralph
