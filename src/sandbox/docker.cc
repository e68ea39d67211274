#include "sandbox/docker.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "git/new_repository.h"
#include "os/files.h"
#include "os/launch.h"
#include "sandbox/allowlist.h"
#include "sandbox/places.h"

namespace ralph {
namespace {

constexpr size_t kMostOfAName = 32, kHashDigits = 10;
constexpr std::string_view kShell = "shell";  // the template without an agent

std::string with_plain_letters(std::string name, char instead) {
  for (char& c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                      c == '-' || c == instead;
    if (!kept) c = instead;
  }
  return name;
}

// The naming scheme of the first such loops: every character except letters, digits, ".", "_" and "-" becomes "_".
// sbx names become parts of host names and can't contain "_". Several tasks may run in one project, so each gets its
// own name.
std::string name_of(const std::string& project, const std::string& task, const DockerCli& cli) {
  const std::string whole = task.empty() ? project : fmt::format("{}-task-{}", project, task);
  if (!cli.is_sbx()) return with_plain_letters("ralph-" + whole, '_');
  return fmt::format("ralph-{}-{}", with_plain_letters(base_name(project).substr(0, kMostOfAName), '-'),
                     sha256_hex(whole).substr(0, kHashDigits));
}

// Arguments are data and never part of a script's text.
constexpr std::string_view kLink = R"sh(state=$1; shift
for name; do
  at="/home/agent/$name"
  mkdir -p "$(dirname "$at")" && rm -rf "$at" && ln -s "$state/$name" "$at" && chown -h agent:agent "$at"
done)sh";
constexpr std::string_view kWrite = R"sh(mkdir -p "$(dirname "$1")"
cat > "$1.ralph-part"
chmod "$2" "$1.ralph-part"
mv -f "$1.ralph-part" "$1")sh";

constexpr std::string_view kSetEnvironment = R"sh(cat > "$1.ralph-part"
chmod 644 "$1.ralph-part"
mv -f "$1.ralph-part" "$1"
line="[ ! -f $1 ] || . $1"
grep -qxF "$line" "$2" 2>/dev/null || printf '%s\n' "$line" >> "$2")sh";
constexpr std::string_view kMakeFolder = R"sh(mkdir -p "$1"; chown agent:agent "$1")sh";
constexpr std::string_view kWithVariables = R"sh(. "$0"; exec "$@")sh";

Words joined_words(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

Result<MachinePlan> plan_machine(const SandboxRequest& request, const DockerCli& cli) {
  MachinePlan plan;
  if (request.agents.empty()) return fail(ErrorKind::kNotFound, "there is no agent to create a machine for");
  const auto known = std::ranges::find(request.agents, false, &AgentPlace::any_machine);
  AgentPlace typed;
  typed.machine = kShell;
  const AgentPlace& first = known == request.agents.end() ? typed : *known;
  for (const AgentPlace& agent : request.agents) {
    if (agent.any_machine) continue;
    if (agent.machine.empty())
      return fail(ErrorKind::kNotFound, "Docker Sandbox has no template for the agent {}", agent.name);
    if (agent.machine != first.machine)
      return fail(ErrorKind::kNotFound, "{} and {} can't be in one Docker Sandbox", first.name, agent.name);
  }
  if (!request.writable.empty() || !request.read_only.empty())
    return fail(
        ErrorKind::kInput,
        "sandbox.readOnly and sandbox.writable are for bubblewrap: a Docker Sandbox has the project alone; remove "
        "them, or set sandbox.backend to \"bubblewrap\"");
  plan.name = name_of(request.project, request.task, cli);
  plan.from = first.machine;
  plan.runs = first.machine_runs && !request.agents.front().any_machine;
  // The agent that `run` starts is fixed per machine, so another agent needs another machine.
  if (!plan.runs) plan.name += "-" + plan.from;
  plan.project = request.project;
  plan.helper = request.helper;
  plan.network = request.network;
  if (request.network == Network::kAllowlist) plan.hosts = request.hosts;
  if (request.secrets) {
    plan.state = join_path(request.home, kMachineState);
    plan.kept = first.kept;
  } else {
    plan.name += "-checks";
  }
  if (!request.private_home.empty())
    plan.record = join_path(parent_path(request.private_home), fmt::format("machine-{}.json", plan.name));
  return plan;
}

Words machine_list(const DockerCli& cli) {
  return joined_words(cli.words, {"ls"});
}

Words machine_create(const DockerCli& cli, const MachinePlan& plan) {
  Words words = joined_words(cli.words, {"create", "--name", plan.name, plan.from, plan.project});
  if (!plan.state.empty()) words.push_back(plan.state);
  return words;
}

Words machine_stop(const DockerCli& cli, const MachinePlan& plan) {
  return joined_words(cli.words, {"stop", plan.name});
}

Words machine_discard(const DockerCli& cli, const MachinePlan& plan) {
  return joined_words(cli.words, cli.is_sbx() ? Words{"rm", "--force", plan.name} : Words{"rm", plan.name});
}

Words machine_exec(const DockerCli& cli, const MachinePlan& plan, const Words& options, const Words& command) {
  return joined_words(joined_words(joined_words(joined_words(cli.words, {"exec"}), options), {plan.name}), command);
}

Words machine_run(const DockerCli& cli, const MachinePlan& plan, const Words& arguments, std::string& prompt) {
  Words words = joined_words(cli.words, {"run", plan.name, "--"});
  for (const std::string& word : arguments) {
    if (word == "--dangerously-skip-permissions") continue;  // the template adds it
    words.push_back(word);
    if (word != "-p" || prompt.empty() || prompt.size() >= kMaxArgumentBytes || prompt.starts_with('-')) continue;
    words.push_back(std::move(prompt));
    prompt.clear();
  }
  return words;
}

Words machine_start(const DockerCli& cli, const MachinePlan& plan, const Words& options, const Words& command,
                    std::string_view variables) {
  return machine_exec(cli, plan, options,
                      joined_words({"sh", "-c", std::string(kWithVariables), std::string(variables)}, command));
}

std::vector<Words> machine_setup(const DockerCli& cli, const MachinePlan& plan) {
  std::vector<Words> all;
  if (!plan.state.empty() && !plan.kept.empty())
    all.push_back(machine_exec(cli, plan, {"-u", "root"},
                               joined_words({"sh", "-ec", std::string(kLink), "ralph", plan.state}, plan.kept)));
  for (const Words& words : set_author("Ralph Loop", "ralph@localhost"))
    all.push_back(machine_exec(cli, plan, {}, words));
  return all;
}

Words machine_policy(const DockerCli& cli, const MachinePlan& plan) {
  const bool open = plan.network == Network::kOpen;
  if (cli.is_sbx()) {
    // A template comes with rules that allow its agent's services. A deny rule overrides all allow rules.
    const bool none = plan.network == Network::kNone || (!open && plan.hosts.empty());
    return joined_words(cli.words, {"policy", none ? "deny" : "allow", "network", "--sandbox", plan.name,
                                    open || none ? "**" : join(plan.hosts, ",")});
  }
  Words words = joined_words(cli.words, {"network", "proxy", plan.name, "--policy", open ? "allow" : "deny"});
  for (const std::string& host : plan.hosts) words.insert(words.end(), {"--allow-host", host});
  return words;
}

std::vector<std::string> hosts_to_be_refused(const DockerCli& cli, const MachinePlan& plan) {
  if (!cli.is_sbx() || plan.network == Network::kOpen) return {};
  const auto listed = Allowlist::from(plan.hosts, {});
  std::vector<std::string> hosts;
  // A host that belongs to nobody, and one that the usual allowlists for developers contain.
  for (const char* host : {"ralph-probe.invalid", "github.com"})
    if (!listed || !listed->allows(host, 443)) hosts.emplace_back(host);
  return hosts;
}

Words machine_policy_check(const DockerCli& cli, const MachinePlan& plan, const std::string& host) {
  return joined_words(cli.words, {"policy", "check", "network", "--sandbox", plan.name, "--json", host + ":443"});
}

Reach reach_in(std::string_view answer) {
  const auto value = parse_json(answer, "the answer");
  const json::value* allowed = value && value->is_object() ? value->as_object().if_contains("allowed") : nullptr;
  if (!allowed || !allowed->is_bool()) return Reach::kUnknown;
  return allowed->as_bool() ? Reach::kAllowed : Reach::kRefused;
}

std::string record_text(const MachinePlan& plan) {
  return to_pretty_json(json::object{{"project", to_json_string(plan.project)},
                                     {"template", to_json_string(plan.from)},
                                     {"network", to_string(plan.network)},
                                     {"hosts", to_json_array(plan.hosts)}});
}

Fit fit_of(const MachinePlan& plan, std::string_view record) {
  const auto value = parse_json(record, "the record");
  if (!value || find_string(*value, "project") != plan.project || find_string(*value, "template") != plan.from)
    return Fit::kNotOurs;
  if (find_string(*value, "network") != to_string(plan.network)) return Fit::kRecreate;
  const json::value* hosts = value->as_object().if_contains("hosts");
  if (!hosts || !hosts->is_array()) return Fit::kNotOurs;
  for (const json::value& host : hosts->as_array()) {
    if (!host.is_string() || std::ranges::find(plan.hosts, std::string_view(host.as_string())) == plan.hosts.end())
      return Fit::kRecreate;
  }
  return plan.hosts.empty() == hosts->as_array().empty() ? Fit::kAsItIs : Fit::kRecreate;
}

Words machine_write(const DockerCli& cli, const MachinePlan& plan, const std::string& path, bool executable,
                    bool as_root) {
  Words options = {"-i"};
  if (as_root) options.insert(options.end(), {"-u", "root"});
  return machine_exec(cli, plan, options,
                      {"sh", "-ec", std::string(kWrite), "ralph", path, executable ? "755" : "644"});
}

Words machine_remove(const DockerCli& cli, const MachinePlan& plan, const std::string& path) {
  return machine_exec(cli, plan, {}, {"rm", "-rf", "--", path});
}

Words machine_make_folder(const DockerCli& cli, const MachinePlan& plan, const std::string& path) {
  return machine_exec(cli, plan, {"-u", "root"}, {"sh", "-ec", std::string(kMakeFolder), "ralph", path});
}

namespace {

std::vector<Words> commands_of(const DockerCli& cli, const MachinePlan& plan) {
  std::vector<Words> commands = {machine_create(cli, plan)};
  commands.push_back(machine_policy(cli, plan));
  for (Words& step : machine_setup(cli, plan)) commands.push_back(std::move(step));
  for (const std::string& host : hosts_to_be_refused(cli, plan))
    commands.insert(commands.begin() + 2, machine_policy_check(cli, plan, host));
  std::string prompt = "PROMPT";
  if (plan.state.empty()) {
    commands.push_back(machine_start(cli, plan, {}, {"CHECK"}));
  } else {
    commands.push_back(plan.runs ? machine_run(cli, plan, {"-p"}, prompt)
                                 : machine_start(cli, plan, {}, {plan.from, prompt}));
  }
  commands.push_back(machine_stop(cli, plan));
  return commands;
}

}  // namespace

std::string describe(const DockerCli& cli, const MachinePlan& plan) {
  std::string text =
      fmt::format("Docker Sandbox {} (template {})\n\nFiles\n  writable   {}\n", plan.name, plan.from, plan.project);
  if (!plan.state.empty()) text += fmt::format("  writable   {} (the login: {})\n", plan.state, join(plan.kept, ", "));
  text += fmt::format("  a copy     {}\n\nNetwork: {}\n", plan.helper, to_string(plan.network));
  if (plan.network == Network::kAllowlist)
    for (const std::string& host : plan.hosts) text += fmt::format("  {}\n", host);
  text += "\nCommands\n";
  for (const Words& words : commands_of(cli, plan)) text += fmt::format("  {}\n", quote_shell_words(words));
  return text;
}

json::object to_json(const DockerCli& cli, const MachinePlan& plan) {
  json::array commands;
  for (const Words& words : commands_of(cli, plan)) commands.push_back(to_json_array(words));
  return {{"backend", "docker"},
          {"name", to_json_string(plan.name)},
          {"template", to_json_string(plan.from)},
          {"project", to_json_string(plan.project)},
          {"state", to_json_string(plan.state)},
          {"network", to_string(plan.network)},
          {"hosts", to_json_array(plan.hosts)},
          {"commands", std::move(commands)}};
}

bool lists_machine(std::string_view listing, std::string_view name) {
  for (const std::string& line : split(listing, '\n')) {
    for (const std::string& word : split(line, ' '))
      if (trim(word) == name) return true;
  }
  return false;
}

Words machine_set_environment(const DockerCli& cli, const MachinePlan& plan) {
  return machine_exec(cli, plan, {"-i", "-u", "root"},
                      {"sh", "-ec", std::string(kSetEnvironment), "ralph", std::string(kTurnVariables),
                       std::string(kMachineEnvironment)});
}

std::string environment_script(const std::map<std::string, std::string>& variables) {
  std::string script = "# written by ralph before each turn\n";
  for (const auto& [name, value] : variables)
    script += fmt::format("export {}={}\n", name, quote_shell_words(std::vector<std::string>{value}));
  return script;
}

}  // namespace ralph
