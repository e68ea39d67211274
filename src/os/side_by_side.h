// Runs several contained commands at once, each with its own time limit, and waits for all of them. Whatever they leave
// behind is ended before it returns. For commands whose output is data; a loop's own steps use os/processes.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/launch.h"
#include "os/processes.h"

namespace ralph {

struct SideLaunch {
  Launch launch;
  Milliseconds limit{0};  // for its lane, from the start of the lane's first command; 0: none
  size_t lane = 0;        // at most SideOptions::width commands of one lane run at a time
  bool in_turn = false;   // one command of its lane at a time, each with its own limit
};

struct SideEnd {
  std::string not_started{};  // why; empty: it was started
  ExitStatus status{};
  bool timed_out = false, interrupted = false;
  std::string out{}, err{};  // the beginning of each stream
  bool cut = false;          // `out` is truncated
  Milliseconds took{0};
  Milliseconds began{0};  // since the whole run began
};

struct SideOptions {
  int guardian = -1;                                     // as for LinuxProcesses; if it closes, everything is ended
  size_t width = 0;                                      // commands of one lane at a time; 0: one per processor
  size_t kept_output = 64 << 20;                         // of standard output
  size_t kept_errors = 16 << 20;                         // of standard error
  std::function<void(size_t, const SideEnd&)> on_end{};  // as each one ends
};

// Returns the ends in the order of the launches. Takes over SIGINT, SIGTERM, SIGQUIT and SIGHUP of this process: any of
// them ends all commands, which are then marked `interrupted`. Makes this process a subreaper.
std::vector<SideEnd> run_side_by_side(const std::vector<SideLaunch>& launches, const SideOptions& options = {});

}  // namespace ralph
