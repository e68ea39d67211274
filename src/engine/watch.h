// Watches the files that an agent must not change unnoticed (checks/watched_files.h) during a run: snapshots them when
// it begins, compares them after each step that may change them, restores the protected ones, and records the changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/watched_files.h"
#include "engine/run.h"

namespace ralph {

inline constexpr std::string_view kUnmaskedSuffix =
    ".kept";  // suffix of the folder of unmasked versions, after the run's id

// Masks the secrets in a changed version that was kept in the run's folder as `changed.kept`. It may be the only copy
// of a user's file, so if masking alters it, an unmasked copy that only the user can read is kept next to run.store.
void mask_kept_file(const Run& run, record::ChangedFile& changed);

// A free name in the run's folder for the changed version of a file: "changed/3/path", or "changed/3.1/path" if that
// exists.
std::string free_name_for(const Run& run, const std::string& path);

// Records changed files that are only reported to the user and the agent.
Status report_files(Run& run, std::vector<record::ChangedFile> files);

class Watch {
 public:
  explicit Watch(Run& run) : run_(run) {}

  // Takes the snapshot at the start of the run, before any agent. A resumed run loads its original snapshot.
  Status begin();

  // For a session loop: copies nothing, to keep hooks fast, so changes are only reported. Fails if the protected paths
  // match more than 64 MB.
  Status begin_session();

  // Compares, and restores if needed. Returns the restored paths. A change by a check or an SCM task came after the
  // files were judged, so it keeps the run from completing in this iteration.
  Result<std::vector<std::string>> look(StepKind after);

 private:
  record::ChangedFile handle(const WatchedFiles::Change& change);
  bool is_known(const WatchedFiles::Change& change) const;

  Run& run_;
  std::optional<WatchedFiles> files_;
  std::map<std::string, std::string> reported_;  // by path: the hash of the changed version that was reported
  int held_in_ = 0;                              // the iteration in which `held_` was reported
  std::map<std::string, std::string> held_;      // the same for files that must be restored
};

}  // namespace ralph
