// Watches the files that an agent is not to change unseen (checks/watched_files.h) during a run: takes them when it
// begins, compares after each step that may change them, puts back what is protected, and records it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/watched_files.h"
#include "engine/run.h"

namespace ralph {

inline constexpr std::string_view kExactEnd = ".kept";  // of the folder of exact versions; before it is a run's id

// Masks the secrets in a changed version that was kept in the run's folder as `changed.kept`. It may be the only one of
// a user's file: if that changes it, the exact one is kept beside run.store, for nobody but the user.
void mask_kept_file(const Run& run, record::ChangedFile& changed);

// A name in the run's folder for the changed version of a file, "changed/3/path"; "changed/3.1/path" if that is there.
std::string free_name_for(const Run& run, const std::string& path);

// Records files whose change the user and the agent are told of, and which nothing is done about.
Status report_files(Run& run, std::vector<record::ChangedFile> files);

class Watch {
 public:
  explicit Watch(Run& run) : run_(run) {}

  // At the start of the run, before any agent; for a run that goes on, what it took then.
  Status begin();

  // For a session loop: nothing is copied, so that a hook is quick, and changes are only reported. Nothing is watched
  // if that would be too much.
  Status begin_session();

  // Compares. The paths that were put back are returned. A change that a check or an SCM task made came after the files
  // were judged: it keeps the run from being complete in this iteration.
  Result<std::vector<std::string>> look(StepKind after);

 private:
  record::ChangedFile handle(const WatchedFiles::Change& change);
  bool is_known(const WatchedFiles::Change& change) const;

  Run& run_;
  std::optional<WatchedFiles> files_;
  std::map<std::string, std::string> told_;  // by path: the hash of a changed version that was reported
  int held_in_ = 0;                          // the iteration in which `held_` was told
  std::map<std::string, std::string> held_;  // the same for those that are to be as they were
};

}  // namespace ralph
