// Sets up and runs a prompt loop: shared by `ralph run` and `ralph demo`.
#pragma once

#include <string>

#include "cli/start_run.h"
#include "engine/prompt_source.h"

namespace ralph::cli {

struct PromptRun {
  RunSetup setup;  // execute() adds the policy and the protection
  PromptSource prompt;
  std::string prompt_text;  // of PromptSource::text; empty for a file
};

// Checks that the SCM tasks in the settings have the repository and the program that they need.
Status check_repository(const Settings& settings, const Environment& environment, const std::string& project);

// Checks what can be checked before anything starts: the agent, the prompt, the repository that SCM tasks need.
Status preflight(const PromptRun& run);

// Runs the loop in a guarded process and returns the exit code.
Result<int> execute(PromptRun& run);

// Prints the exact command line, prompt and policy, and starts nothing.
Result<int> print_dry_run(const PromptRun& run);

}  // namespace ralph::cli
