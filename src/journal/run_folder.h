// The folders of runs: .ralph/runs/<id>/, one per run, accessible only to its owner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/environment.h"

namespace ralph {

// "20261115-202233-7f3a": the start time in UTC and four random hexadecimal digits.
std::string new_run_id(WallTime now);
bool is_run_id(std::string_view text);

// The id of the run that started this process's agent (RALPH_RUN_ID); empty: none. Inside a run, hooks leave loops to
// it.
std::string enclosing_run_id(const Environment& environment);

struct RunFolder {
  std::string id;
  std::string path;
};

// Creates a new folder. Ids sort by start time: if another run of the same second has this id or a later one, the new
// folder gets a later id. Refuses a `.ralph` or `runs` that is a symlink, because it could point anywhere.
Result<RunFolder> create_run_folder(const std::string& project, std::string id);

// Whether a run began after another one, possibly of another project. Compares the seconds in their ids, then the times
// of their first records, or of their folders if there is no record.
bool began_later(const RunFolder& one, const RunFolder& other);

// Newest first; empty if the project has no runs.
Result<std::vector<RunFolder>> list_runs(const std::string& project);

// Finds a run by its id, by a unique prefix of it, or as "last". Errors are of kind kUsage and name similar ids.
Result<RunFolder> find_run(const std::string& project, std::string_view text);

}  // namespace ralph
