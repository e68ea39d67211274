// Sets up and runs a prompt loop: shared by `ralph run` and `ralph demo`.
#pragma once

#include <optional>
#include <string>

#include "cli/accept.h"
#include "engine/prompt_source.h"
#include "engine/resume.h"
#include "os/environment.h"
#include "settings/settings.h"

namespace ralph::cli {

struct PromptRun {
  LoadedSettings loaded;
  PromptSource prompt;
  std::string prompt_text;               // of PromptSource::text; empty for a file
  std::string project;                   // absolute
  std::string typed_in{};                // where the command was typed; empty: in the project
  std::vector<std::string> arguments{};  // as typed
  const ResumePoint* resume = nullptr;   // the run to resume; nullptr: a new one
  std::optional<TrustTicket> ticket{};   // nullopt: nobody has to accept it
  bool verbose = false;
  bool json = false;
};

// Checks that the SCM tasks in the settings have the repository and the program that they need.
Status check_repository(const Settings& settings, const Environment& environment, const std::string& project);

// Checks what can be checked before anything starts: the agent, the prompt, the repository that SCM tasks need.
Status preflight(const PromptRun& run);

// Runs the loop in a guarded process and returns the exit code.
Result<int> execute(const PromptRun& run);

// Prints the exact command line, prompt and policy, and starts nothing.
Result<int> print_dry_run(const PromptRun& run);

}  // namespace ralph::cli
