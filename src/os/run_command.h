// Runs a short command to its end: `git init`, `claude --version`. Not for agents and guardrails, which may misbehave:
// Processes runs those.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/launch.h"

namespace ralph {

struct CommandResult {
  int exit_code = 0;           // 128 + signal if one killed it
  std::string output, errors;  // the beginning of each stream
  bool cut = false;            // output was truncated
};

// Killed, with exit code 137, if it takes longer than `limit`. The output is both streams merged, the first 64 KB.
Result<CommandResult> run_command(Launch launch, Milliseconds limit = Milliseconds(10000));

// The same, but a pending signal (SIGINT, SIGTERM, SIGHUP, SIGQUIT) ends it: kInterrupted. For a process that blocks
// its signals and reads them later.
Result<CommandResult> run_until_signal(Launch launch, Milliseconds limit);

// For a command whose output is data: standard error is kept separate.
Result<CommandResult> ask_command(Launch launch, Milliseconds limit, size_t kept_output);

}  // namespace ralph
