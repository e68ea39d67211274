// What a dry run shows: the exact command line, the policy and the prompt of the first turn. Nothing is started.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "cli/protection.h"
#include "settings/settings.h"

namespace ralph::cli {

struct DryRun {
  const LoadedSettings& loaded;
  const Protection& protection;
  std::string project;
  std::span<const Agent> agents;  // of the first turn, the preferred one first
  std::string prompt;             // as sent to the agent
  std::string prompt_source;
  std::string iterations;                  // how many, and what completes the run
  std::vector<std::string> more_checks{};  // in addition to the guardrails
  std::string opening{};                   // further lines at the start
  std::string limits{};                    // replaces the lines about turns and guardrails, which a task lacks
  json::object facts{};                    // the same for --json
};

int print_dry_run(const DryRun& run, bool as_json);

}  // namespace ralph::cli
