// A short command of ralph's own, run to its end: `git init`, `claude --version`. Not for agents or guardrails, which
// may misbehave: those are run by Processes.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/launch.h"

namespace ralph {

struct CommandResult {
  int exit_code = 0;   // 128 + signal if it was ended by one
  std::string output;  // both streams, its first 64 KB
};

// Killed, with exit code 137, if it takes longer than `limit`.
Result<CommandResult> run_command(Launch launch, Milliseconds limit = Milliseconds(10000));

// For a command whose output is read as data: what it says to people must not get into it.
struct CommandAnswer {
  int exit_code = 0;
  std::string output, errors;  // the beginning of each stream
  bool cut = false;            // there was more output
};
Result<CommandAnswer> ask_command(Launch launch, Milliseconds limit, size_t kept_output);

}  // namespace ralph
