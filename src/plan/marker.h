// .ralph-active: the note in a project that a plan run is under way, whose it is, and where the iteration stands. For
// reading by hooks and people; the runner itself never believes it. Specified in docs/formats/tasks.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "git/own_paths.h"
#include "plan/transitions.h"

namespace ralph {

struct Marker {
  std::string timestamp;             // when the run began
  std::int64_t pid = 0;              // of the process that the user started; 0: not told
  unsigned long long pid_start = 0;  // its start time in clock ticks since boot; 0: not told
  std::int64_t max_iterations = 0;
  std::string run_id;     // empty: a marker that was not made by ralph; it binds every session
  std::string ralph_dir;  // absolute; empty: ralph in the project
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::int64_t iteration = 0;
  std::optional<Mode> iteration_mode;
  std::string story;
  std::optional<Before> snapshot;
};

std::string to_text(const Marker& marker);
Result<Marker> marker_from(std::string_view text, std::string_view where);

// Nothing if there is none. A symlink or something unreadable is an error.
Result<std::optional<Marker>> read_marker(const std::string& project);

// Whether the process that it names lives. One that names none counts as live: it is there, and nobody can say more.
bool is_live(const Marker& marker);

// The marker of a run that is under way in `project`; nothing if there is none, or only a stale one.
Result<std::optional<Marker>> live_marker(const std::string& project);

// For a run that has ended: removes its marker, whatever an agent may have made of it.
void remove_marker(const std::string& project);

}  // namespace ralph
