// Turns settings and agents into the request for a sandbox.
#pragma once

#include <span>
#include <string>

#include "agents/agent.h"
#include "sandbox/plan.h"
#include "settings/settings.h"

namespace ralph::cli {

enum class SandboxFor { kAgent, kChecks };

struct SandboxSubject {
  const Settings& settings;
  std::string project;  // absolute
  const Environment& environment;
  std::span<const Agent> agents;         // all that may be started
  std::vector<std::string> checks{};     // further commands that are run as checks
  std::vector<std::string> own_state{};  // files of ralph that hooks read
  std::string task{};                    // "PROJECT/TASK" of a supervised task
  std::string task_folder{};             // its folder
  bool typed = false;                    // the first agent is a command that was typed
};

// The request for `subject`. Creates nothing.
Result<SandboxRequest> sandbox_request(const SandboxSubject& subject, SandboxFor purpose);

// Creates the private home and copies what the agents need into it.
Status prepare_home(const SandboxRequest& request);

// The agents of the settings; empty if none can be started.
std::vector<Agent> agents_for_sandbox(const Settings& settings, const Environment& environment,
                                      const std::string& project);

}  // namespace ralph::cli
