// Turns a plan into a bubblewrap command: a function from one Launch to another.
#pragma once

#include <string>
#include <vector>

#include "os/launch.h"
#include "sandbox/plan.h"

namespace ralph {

// The limits that are set inside the sandbox; see sandbox/limits.
struct LimitsInside {
  long long processes = 0;   // by setrlimit; 0: not limited
  long long data_bytes = 0;  // per process
};

struct Bubblewrap {
  std::string program;              // bwrap
  std::string seccomp;              // seccomp_program()
  std::vector<std::string> groups;  // Launch::groups
  LimitsInside limits;
  bool terminal = false;  // standard input is a terminal that belongs to the program
};

// The options for bwrap. `first_file`: the descriptor number for the first text in `files`.
std::vector<std::string> bubblewrap_options(const SandboxPlan& plan, int first_file, std::vector<std::string>& files);

// The launch, wrapped in bubblewrap. The environment is reduced to what the plan lets through. bwrap gets its options
// and the filter in anonymous files; then `ralph sandbox enter` sets the limits, starts the bridge to the proxy, and
// execs the program.
Launch in_bubblewrap(const SandboxPlan& plan, const Bubblewrap& bubblewrap, Launch launch);

}  // namespace ralph
