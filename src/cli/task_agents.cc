#include "cli/task_agents.h"

#include "base/text.h"
#include "engine/roster.h"
#include "os/files.h"

namespace ralph::cli {

Result<std::vector<Agent>> task_agents(const std::vector<std::string>& words, const Settings& settings,
                                       const Environment& environment, const std::string& folder) {
  if (words.empty()) return make_agents_with(settings.task.agent, "task.agent", settings, environment, folder);
  Agent::Setup setup;
  setup.command = quote_shell_words(words);
  setup.kind = "custom";  // a command runs as it was typed, even if it has an agent's name
  setup.name = base_name(words[0]);
  setup.env = settings.agent.env;
  auto agent = Agent::make(setup, environment, folder);
  if (!agent) return fail(agent.error().kind, "the command cannot be started: {}", agent.error().message);
  std::vector<Agent> agents;
  agents.push_back(*std::move(agent));
  return agents;
}

}  // namespace ralph::cli
