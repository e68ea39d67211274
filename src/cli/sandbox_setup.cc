#include "cli/sandbox_setup.h"

#include <algorithm>
#include <unistd.h>

#include "agents/registry.h"
#include "base/text.h"
#include "engine/roster.h"
#include "os/files.h"
#include "policy/command_policy.h"
#include "policy/paths.h"
#include "sandbox/limits.h"
#include "sandbox/private_home.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {
namespace {

std::vector<std::string> strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

std::string path_from(const std::string& path, const std::string& home, const std::string& project) {
  if (path == "~") return home;
  if (path.starts_with("~/")) return join_path(home, path.substr(2));
  return real_path(absolute_path(path, project));
}

AgentPlace agent_place_of(const Agent& agent, const std::string& project) {
  const SandboxNeeds& needs = agent.adapter().needs;
  AgentPlace place;
  place.name = agent.name();
  place.programs.push_back(agent.program());
  for (size_t i = 1; i < agent.words().size(); ++i) {
    const std::string path = absolute_path(agent.words()[i], project);
    if (is_regular_file(path)) place.programs.push_back(path);
  }
  place.variables = strings(needs.variables);
  place.copied = strings(needs.copied);
  place.read_only = strings(needs.read_only);
  // A machine has the agent's own program, not a command of several words from the settings.
  if (agent.words().size() == 1) place.machine = needs.vm_template;
  place.kept = strings(needs.vm_state);
  place.machine_runs = needs.vm_runs;
  return place;
}

// The scripts that checks run, which an agent must not change.
std::vector<std::string> guarded_files(const SandboxSubject& subject) {
  std::vector<std::string> commands = subject.checks;
  for (const GuardrailSettings& guardrail : subject.settings.guardrails) commands.push_back(guardrail.command);
  std::vector<std::string> files;
  for (const std::string& command : commands) {
    for (const std::string& script : scripts_of_guardrail(command)) {
      const std::string path = absolute_path(script, subject.project);
      if (is_within(path, subject.project) && is_real_file(path)) files.push_back(path);
    }
  }
  return files;
}

// The folders where known agents other than those `at_work` keep their logins. Earlier runs may have left copies there.
std::vector<std::string> logins_of_others(std::span<const AgentPlace> at_work) {
  std::vector<std::string> folders;
  for (const Adapter* adapter : adapters()) {
    for (const std::string_view name : adapter->needs.copied) {
      const bool own = std::ranges::any_of(at_work, [&](const AgentPlace& agent) {
        return std::ranges::find(agent.copied, name) != agent.copied.end();
      });
      const std::string folder = name.ends_with('/') ? without_slash(name) : parent_path(std::string(name));
      if (!own && std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
    }
  }
  return folders;
}

Network network_from(std::string_view word) {
  if (word == to_string(Network::kOpen)) return Network::kOpen;
  return word == to_string(Network::kAllowlist) ? Network::kAllowlist : Network::kNone;
}

}  // namespace

Result<SandboxRequest> sandbox_request(const SandboxSubject& subject, SandboxFor purpose) {
  const SandboxSettings& settings = subject.settings.sandbox;
  SandboxRequest request;
  request.project = real_path(subject.project);
  const auto home = subject.environment.get("HOME");
  if (!home || !home->starts_with('/'))
    return fail(ErrorKind::kInput, "HOME is not set, so a sandbox does not know which folder to hide; set it");
  request.home = real_path(*home);
  const std::string state = state_folder(subject.environment);
  request.private_home =
      real_path(join_path(state, "sandbox/" + state_name(base_name(request.project), request.project) + "/home"));
  TRY_VALUE(request.helper, path_of_this_program());
  request.path = subject.environment.get("PATH").value_or("");
  request.secrets = purpose == SandboxFor::kAgent;
  for (const Agent& agent : subject.agents) request.agents.push_back(agent_place_of(agent, subject.project));
  if (subject.typed && !request.agents.empty()) request.agents.front().any_machine = true;
  request.task = subject.task;
  request.concealed =
      logins_of_others(request.secrets ? std::span<const AgentPlace>(request.agents) : std::span<const AgentPlace>());
  request.variables = settings.environment;
  if (request.secrets) {
    for (const auto& [name, value] : subject.settings.agent.env) request.variables.push_back(name);
    for (const auto& [name, agent] : subject.settings.agents) {
      for (const auto& [variable, value] : agent.env) request.variables.push_back(variable);
    }
  }
  for (const std::string& path : settings.read_only)
    request.read_only.push_back(path_from(path, request.home, request.project));
  for (const std::string& path : settings.writable)
    request.writable.push_back(path_from(path, request.home, request.project));
  request.guarded = guarded_files(subject);
  request.own_state = subject.own_state;
  request.network = network_from(request.secrets ? settings.network : settings.check_network);
  request.hosts = settings.hosts;
  for (const Agent& agent : subject.agents) {
    for (const std::string_view host : agent.adapter().needs.hosts) {
      if (std::ranges::find(request.hosts, host) == request.hosts.end()) request.hosts.emplace_back(host);
    }
  }
  request.limits.processes = settings.processes;
  request.limits.memory_bytes =
      settings.memory_mb > 0 ? static_cast<long long>(settings.memory_mb) << 20 : default_memory_limit();
  request.limits.cpu_percent = settings.cpu_percent;
  request.uid = static_cast<int>(::geteuid());
  request.gid = static_cast<int>(::getegid());
  return request;
}

Status prepare_home(const SandboxRequest& request) {
  TRY(make_private_home(request.private_home));
  for (const AgentPlace& agent : request.agents) {
    for (const std::string& name : agent.copied) TRY(copy_to_private_home(request.home, request.private_home, name));
  }
  return {};
}

std::vector<Agent> agents_for_sandbox(const Settings& settings, const Environment& environment,
                                      const std::string& project) {
  auto agents = make_agents(settings, environment, project);
  return agents ? *std::move(agents) : std::vector<Agent>();
}

}  // namespace ralph::cli
