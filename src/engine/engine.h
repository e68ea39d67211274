// The prompt loop: iterations of agent, guardrails and SCM tasks until decide() says stop.
#pragma once

#include <span>

#include "agents/agent.h"
#include "engine/prompt_source.h"
#include "engine/step.h"
#include "settings/settings.h"

namespace ralph {

struct PromptLoop {
  const Settings& settings;
  std::span<const Agent> agents;  // the preferred one first, as in the policy
  const PromptSource& prompt;
  RunContext& context;
};

// Runs to the end, which is always recorded. An error is something that no rule foresees (a full disk, a prompt file
// that vanished): nothing runs any more when it is returned.
Result<Decision> run_prompt_loop(PromptLoop loop);

}  // namespace ralph
