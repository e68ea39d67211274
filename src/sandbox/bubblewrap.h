// A plan as a bubblewrap command: a function from one Launch to another.
#pragma once

#include <string>
#include <vector>

#include "os/launch.h"
#include "sandbox/plan.h"

namespace ralph {

// Which limits are set how; see sandbox/limits.
struct LimitsInside {
  long long processes = 0;   // by setrlimit, inside; 0: not
  long long data_bytes = 0;  // per process
};

struct Bubblewrap {
  std::string program;              // bwrap
  std::string seccomp;              // seccomp_program()
  std::vector<std::string> groups;  // Launch::groups
  LimitsInside limits;
  bool terminal = false;  // standard input is a terminal that is the program's own
};

// The options for bwrap. `first_file`: the descriptor of the first text in `files`.
std::vector<std::string> bubblewrap_options(const SandboxPlan& plan, int first_file, std::vector<std::string>& files);

// The launch, inside. Its environment is cleared to what the plan lets pass. bwrap gets its options and the filter in
// anonymous files; then `ralph sandbox enter` sets limits, starts the bridge to the proxy, and becomes the program.
Launch in_bubblewrap(const SandboxPlan& plan, const Bubblewrap& bubblewrap, Launch launch);

}  // namespace ralph
