#include "engine/roster.h"

#include <algorithm>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

Agent::Setup setup_from(const AgentDefinition& definition) {
  Agent::Setup setup;
  setup.command = definition.command;
  setup.flags = definition.flags;
  setup.env = definition.env;
  setup.kind = definition.kind;
  setup.stream = definition.stream;
  setup.model = definition.model;
  if (definition.prompt_via == PromptVia::kArgument) setup.prompt = PromptPath::kArgument;
  if (definition.prompt_via == PromptVia::kStdin) setup.prompt = PromptPath::kStdin;
  if (definition.prompt_via == PromptVia::kFile) setup.prompt = PromptPath::kFile;
  return setup;
}

// `agent` overrides the definition that its command names; its flags are added to the definition's.
Agent::Setup setup_of_first(const Settings& settings) {
  const AgentSettings& agent = settings.agent;
  const auto defined = settings.agents.find(agent.command);
  if (defined == settings.agents.end()) return setup_from(agent);
  AgentDefinition sum = defined->second;
  sum.flags.insert(sum.flags.end(), agent.flags.begin(), agent.flags.end());
  for (const auto& [name, value] : agent.env) sum.env[name] = value;
  if (agent.prompt_via) sum.prompt_via = agent.prompt_via;
  if (!agent.kind.empty()) sum.kind = agent.kind;
  if (!agent.stream.empty()) sum.stream = agent.stream;
  if (!agent.model.empty()) sum.model = agent.model;
  Agent::Setup setup = setup_from(sum);
  setup.name = agent.command;
  return setup;
}

Agent::Setup setup_of_fallback(const Settings& settings, const std::string& name) {
  const auto defined = settings.agents.find(name);
  AgentDefinition definition;
  definition.command = name;
  Agent::Setup setup = setup_from(defined == settings.agents.end() ? definition : defined->second);
  if (defined != settings.agents.end()) setup.name = name;
  return setup;
}

Status check_budget(const Settings& settings, const Agent& agent) {
  const BudgetSettings& budget = settings.budget;
  const bool events = agent.prints_events(settings.stream_agent_output);
  // The advice depends on why the agent reports nothing: its events are switched off, or do not include usage.
  const auto advice = [&](bool in_events) {
    if (in_events) return "set streamAgentOutput to true, or use budget.maxMinutes";
    return agent.prints_events(true) ? "use budget.maxMinutes"
                                     : "use budget.maxMinutes, or name its format in agent.stream if it prints events";
  };
  if (budget.max_tokens > 0 && !(events && agent.reports_tokens())) {
    return fail(ErrorKind::kInput, "budget.maxTokens is set, but {} does not report its tokens{}; {}", agent.name(),
                agent.reports_tokens() ? " in text mode" : "", advice(agent.reports_tokens()));
  }
  if (budget.max_cost_usd > 0 && !(events && agent.reports_cost())) {
    const bool tokens_help = events && agent.reports_tokens();
    return fail(ErrorKind::kInput, "budget.maxCostUsd is set, but {} does not report its cost{}; {}{}", agent.name(),
                agent.reports_cost() ? " in text mode" : "", tokens_help ? "use budget.maxTokens, or " : "",
                advice(agent.reports_cost()));
  }
  return {};
}

// An agent and the setting that names it, for errors.
struct Named {
  Agent::Setup setup;
  std::string_view setting;  // or flag
};

Result<std::vector<Agent>> make_all(const std::vector<Named>& named, const Settings& settings,
                                    const Environment& environment, const std::string& project) {
  std::vector<Agent> agents;
  for (const Named& one : named) {
    Agent::Setup setup = one.setup;
    auto agent = Agent::make(setup, environment, project);
    const auto is_taken = [&](const std::string& name) {
      return std::any_of(agents.begin(), agents.end(), [&](const Agent& other) { return other.name() == name; });
    };
    const bool same_command = std::any_of(
        named.data(), &one, [&](const Named& earlier) { return earlier.setup.command == one.setup.command; });
    if (agent && is_taken(agent->name()) && !same_command) {
      setup.name = setup.command;  // the same program in two folders: the full command distinguishes them
      agent = Agent::make(setup, environment, project);
    }
    if (!agent && agent.error().kind == ErrorKind::kNotFound) {
      return fail(ErrorKind::kNotFound,
                  "the agent cannot be started: {} ({} is \"{}\"; 'ralph doctor' shows what is installed)",
                  agent.error().message, one.setting, setup.command);
    }
    if (!agent) return tl::unexpected(agent.error());
    TRY(check_budget(settings, *agent));
    if (is_taken(agent->name()))
      return fail(ErrorKind::kInput, "agent.fallback names {} twice; a fallback has to be another agent",
                  agent->name());
    agents.push_back(*std::move(agent));
  }
  return agents;
}

}  // namespace

Result<std::vector<Agent>> make_agents(const Settings& settings, const Environment& environment,
                                       const std::string& project) {
  if (settings.agent.command.empty()) {
    return fail(ErrorKind::kInput, "no agent is set in {}; run 'ralph init', or set agent.command",
                join_path(project, ".ralph/settings.json"));
  }
  std::vector<Named> named = {{setup_of_first(settings), settings.agent.named_by}};
  for (const std::string& name : settings.agent.fallback)
    named.push_back({setup_of_fallback(settings, name), "agent.fallback"});
  return make_all(named, settings, environment, project);
}

Result<std::vector<Agent>> make_agents_with(const std::string& first, std::string_view setting,
                                            const Settings& settings, const Environment& environment,
                                            const std::string& project) {
  if (first.empty()) return make_agents(settings, environment, project);
  std::vector<Named> named = {{setup_of_fallback(settings, first), setting}};
  for (const std::string& name : settings.agent.fallback) {
    if (name != first) named.push_back({setup_of_fallback(settings, name), "agent.fallback"});
  }
  return make_all(named, settings, environment, project);
}

std::string names_of(const std::vector<Agent>& agents) {
  std::vector<std::string> names;
  for (const Agent& agent : agents) names.push_back(agent.name());
  return join(names, ", then ");
}

}  // namespace ralph
