// .ralph-active: a file in the project that names the current plan run and its iteration, for hooks and people. The
// runner itself never trusts it. Specified in docs/formats/tasks.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "git/own_paths.h"
#include "json/fields.h"
#include "os/environment.h"
#include "plan/transitions.h"

namespace ralph {

struct Marker {
  std::string timestamp;             // when the run began
  std::int64_t pid = 0;              // of the process that the user started; 0: unknown
  unsigned long long pid_start = 0;  // its start time in clock ticks since boot; 0: unknown
  std::int64_t max_iterations = 0;
  std::string run_id;     // empty: not written by ralph; such a marker binds every session
  std::string ralph_dir;  // absolute; empty: ralph in the project
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::int64_t iteration = 0;
  std::optional<Mode> iteration_mode;
  std::string story;
  std::optional<Before> snapshot;

  // Excludes the last two, which are written only if known.
  template <class V>
  void fields(V&& v) {
    v("timestamp", timestamp), v("pid", pid), v("pidStart", pid_start), v("max_iterations", max_iterations);
    v("skipReview", skip_review), v("reviewCap", review_cap), v("runId", run_id), v("ralphDir", ralph_dir);
    v("iteration", iteration), v("iterationMode", iteration_mode);
  }
};

std::string to_text(const Marker& marker);
Result<Marker> marker_from(std::string_view text, std::string_view where);

// nullopt if there is none. A symlink or an unreadable file is an error.
Result<std::optional<Marker>> read_marker(const std::string& project);

// Whether the process that it names is alive. False if it names none.
bool is_live(const Marker& marker);

// The marker of the current run in `project`; nullopt if there is none, or only a stale one. A marker counts only if
// this user owns it, and either git does not track it and its process is alive, or it names the run that this process's
// agent belongs to ($RALPH_RUN_ID). A marker that came with a clone, or from another user, is ignored.
Result<std::optional<Marker>> live_marker(const std::string& project,
                                          const Environment& environment = Environment::of_this_process());

// Fails with kBusy if a run is under way; the error ends with `advice`.
Status expect_no_run(const std::string& project, std::string_view advice);

// Removes the marker of a run that has ended, whatever an agent replaced it with.
void remove_marker(const std::string& project);

}  // namespace ralph
