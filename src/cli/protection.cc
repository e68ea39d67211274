#include "cli/protection.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/docker_shelter.h"
#include "git/clean_checkout.h"
#include "os/clock.h"
#include "os/files.h"
#include "policy/paths.h"
#include "sandbox/egress.h"
#include "sandbox/settle.h"
#include "sandbox/upstream.h"

namespace ralph::cli {
namespace {

enum class Where { kAgentSandbox, kCheckSandbox, kHost };

// Source control is ralph's own work: it needs the user's credentials and hooks, and its commands are the settings'.
Where place_of(StepKind kind, bool checks_on_host) {
  switch (kind) {
    case StepKind::kNone:
    case StepKind::kAgent:
      return Where::kAgentSandbox;
    case StepKind::kGuardrail:
      return checks_on_host ? Where::kHost : Where::kCheckSandbox;
    case StepKind::kScm:
      return Where::kHost;
  }
  return Where::kAgentSandbox;
}

constexpr std::string_view kOn = "on", kOff = "off", kAuto = "auto";

std::string mode_of(const Settings& settings, bool by_default) {
  if (!settings.sandbox.mode.empty()) return settings.sandbox.mode;
  return std::string(by_default ? kAuto : kOff);
}

// Actually starts bubblewrap instead of guessing. The home is empty, because a dry run writes nothing.
Result<std::string> try_bubblewrap(SandboxRequest request, const Environment& environment) {
  TRY(plan_sandbox(request, this_machine()));
  request.private_home.clear();
  TRY_VALUE(const SandboxPlan plan, plan_sandbox(request, this_machine()));
  TRY_VALUE(const Enclosure enclosure, Enclosure::make(request.limits, environment, request.project));
  TRY(enclosure.try_out(plan, environment));
  return enclosure.group.describe();
}

std::string network_in_words(const Protection& protection, const std::string& by) {
  const SandboxRequest& agent = protection.agent;
  std::string network(to_string(agent.network));
  if (agent.network == Network::kAllowlist)
    network += agent.hosts.empty() ? " (no hosts)" : fmt::format(" ({})", join(agent.hosts, ", "));
  return fmt::format(
      "{}; network {}{}; checks {}", by, network, protection.limits.empty() ? "" : "; " + protection.limits,
      protection.checks_on_host
          ? "on the host (sandbox.checksOnHost)"
          : fmt::format("in another one, without secrets, network {}", to_string(protection.check.network)));
}

// A review must not see what the work under review has left in the home: settings and memory of agents, git's
// configuration, programs.
Status use_fresh_home(SandboxRequest& request) {
  request.private_home = join_path(parent_path(request.private_home), "review-home");
  return remove_tree(request.private_home);
}

}  // namespace

// Source control works with the user's credentials. A program that the agent has put into the project, under a name
// that git calls, must not get them.
Launch on_host(StepKind kind, Launch launch, const std::string& project) {
  if (kind == StepKind::kScm) launch.environment = with_project_last(std::move(launch.environment), project);
  return launch;
}

namespace {

bool machines_run(const SandboxRequest& request) {
  return std::ranges::all_of(request.agents, [](const AgentPlace& agent) { return agent.machine_runs; });
}

// A machine copies all files of the project to the host, so the folder of a task must not be among them.
bool is_apart_from_project(const SandboxSubject& subject, const SandboxRequest& request) {
  if (subject.task_folder.empty()) return true;
  const std::string folder = real_path(subject.task_folder);
  return !is_within(folder, request.project) && !is_within(request.project, folder);
}

// Chooses the backend that the settings name; otherwise Docker Sandbox if it is available and runs the agents, or else
// bubblewrap.
Status find_backend(const SandboxSubject& subject, Protection& protection) {
  const std::string& backend = subject.settings.sandbox.backend;
  const bool apart = is_apart_from_project(subject, protection.agent);
  if (backend == "docker" && !apart)
    return fail(
        ErrorKind::kInput,
        "the task's folder {} and the project {} must not contain each other. A Docker Sandbox can write everything in "
        "the project, and so could change what the supervisor relies on; give a --root outside of the project, or set "
        "sandbox.backend to \"bubblewrap\"",
        subject.task_folder, protection.agent.project);
  // Machines were only tested with agents that they run themselves. Other agents use one only if the settings say so.
  if (backend == "docker" || (backend != "bubblewrap" && apart && machines_run(protection.agent))) {
    const auto machine = plan_machine(protection.agent, {});
    const auto cli = machine ? find_docker_cli(subject.environment, subject.project)
                             : Result<DockerCli>(tl::unexpected(machine.error()));
    if (cli) {
      protection.in_machine = true;
      protection.docker = *cli;
      protection.sync = Milliseconds(std::llround(subject.settings.sandbox.sync_seconds * 1000));
      return {};
    }
    if (backend == "docker") return tl::unexpected(cli.error());
  }
  TRY_VALUE(protection.limits, try_bubblewrap(protection.agent, subject.environment));
  return {};
}

}  // namespace

Status set_sandbox(const Arguments& arguments, Overrides& overrides) {
  const bool on = arguments.has("sandbox"), off = arguments.has("no-sandbox");
  if (on && off) return fail(ErrorKind::kUsage, "--sandbox and --no-sandbox are both given; choose one");
  if (on) overrides.set("/sandbox/mode", json::string(kOn), "--sandbox");
  if (off) overrides.set("/sandbox/mode", json::string(kOff), "--no-sandbox");
  return {};
}

Result<Protection> choose_protection(const SandboxSubject& subject, bool by_default) {
  Protection protection;
  const std::string mode = mode_of(subject.settings, by_default);
  if (mode == kOff) return protection;
  protection.checks_on_host = subject.settings.sandbox.checks_on_host;
  protection.resolve = subject.settings.sandbox.resolve;
  TRY_VALUE(protection.agent, sandbox_request(subject, SandboxFor::kAgent));
  TRY_VALUE(protection.check, sandbox_request(subject, SandboxFor::kChecks));
  TRY(Allowlist::from(protection.agent.hosts, protection.resolve));
  TRY(Upstream::from(subject.environment));
  const Status tried = find_backend(subject, protection);
  protection.on = tried.has_value();
  if (tried) return protection;
  // Errors in the settings are errors in any mode.
  if (mode == kOn || tried.error().kind != ErrorKind::kNotFound) {
    return fail(tried.error().kind,
                "there is no sandbox: {}. Nothing was started; 'ralph sandbox check' says more, and --no-sandbox runs "
                "the agent directly (you asked for --sandbox, or sandbox.mode is on)",
                tried.error().message);
  }
  protection.why_not = tried.error().message;
  return protection;
}

std::string describe(const Protection& protection) {
  if (!protection.in_machine) return network_in_words(protection, "bubblewrap");
  const auto machine = plan_machine(protection.agent, protection.docker);
  return network_in_words(protection,
                          fmt::format("docker ({}, {})", protection.docker.is_sbx() ? "sbx" : "docker sandbox",
                                      machine ? machine->name : "?"));
}

std::string opening_line(const Protection& protection) {
  if (protection.on) return "";
  if (protection.why_not.empty()) return "The agent runs directly, with your rights, not in a sandbox.\n";
  return fmt::format("No sandbox: {}; the agent runs directly, with your rights.\n", protection.why_not);
}

Result<std::unique_ptr<Shelter>> make_shelter(const Protection& protection, const Environment& environment,
                                              const std::string& folder, Jobs& jobs) {
  if (protection.in_machine) {
    TRY_VALUE(std::unique_ptr<Shelter> machine, DockerShelter::make(protection, environment, folder, jobs));
    return machine;
  }
  TRY_VALUE(std::unique_ptr<Shelter> shelter, RunShelter::make(protection, environment, folder, jobs));
  return shelter;
}

Result<std::unique_ptr<Shelter>> shelter_for_child(const Protection& protection, const Environment& environment) {
  if (protection.in_machine) {
    TRY_VALUE(std::unique_ptr<Shelter> machine, DockerShelter::for_child(protection, environment));
    return machine;
  }
  TRY_VALUE(std::unique_ptr<Shelter> shelter, RunShelter::for_child(protection, environment));
  return shelter;
}

Result<std::unique_ptr<RunShelter>> RunShelter::make(const Protection& protection, const Environment& environment,
                                                     const std::string& folder, Jobs& jobs) {
  std::unique_ptr<RunShelter> shelter(new RunShelter(protection));
  TRY_VALUE(shelter->enclosure_, Enclosure::make(protection.agent.limits, environment, protection.agent.project));
  shelter->log_ = join_path(folder, kEgressLog);
  if (protection.agent.network == Network::kAllowlist || protection.check.network == Network::kAllowlist)
    TRY(shelter->start_proxy(jobs, environment));
  return shelter;
}

Result<std::unique_ptr<RunShelter>> RunShelter::for_child(const Protection& protection,
                                                          const Environment& environment) {
  std::unique_ptr<RunShelter> shelter(new RunShelter(protection));
  const SandboxRequest& agent = protection.agent;
  TRY_VALUE(shelter->enclosure_, Enclosure::make(agent.limits, environment, agent.project, agent.groups));
  shelter->socket_ = agent.socket;
  return shelter;
}

RunShelter::~RunShelter() {
  helper_socket_.remove();
}

Status RunShelter::start_proxy(Jobs& jobs, const Environment& environment) {
  TRY_VALUE(helper_socket_, open_egress_socket());
  socket_ = helper_socket_.socket;
  JobRequest job;
  job.name = "proxy";
  job.launch =
      proxy_launch({protection_.agent.helper, protection_.agent.hosts, protection_.resolve, log_}, environment);
  job.in.fd = helper_socket_.listener.get();
  TRY(jobs.start(job));
  helper_socket_.listener.close();  // only the proxy has it, so nobody waits for a proxy that has ended
  return {};
}

Result<Launch> RunShelter::enclose(StepKind kind, Launch launch) {
  const Where where = place_of(kind, protection_.checks_on_host);
  plan_ = {};
  if (where == Where::kHost) return on_host(kind, std::move(launch), protection_.agent.project);
  SandboxRequest request = where == Where::kCheckSandbox ? protection_.check : protection_.agent;
  request.socket = socket_;
  if (!launch.project.empty()) {
    const std::string instead = real_path(launch.project);
    for (std::string& path : request.guarded) {
      if (is_within(path, request.project)) path = instead + path.substr(request.project.size());
    }
    request.project = instead;
    if (kind == StepKind::kAgent) TRY(use_fresh_home(request));
  }
  request.read_only.insert(request.read_only.end(), launch.reads.begin(), launch.reads.end());
  const std::string folder = real_path(launch.folder);
  const bool is_seen =
      is_within(folder, request.project) || std::ranges::any_of(request.beside, [&](const Mount& mount) {
        return mount.kind == MountKind::kWritable && is_within(folder, mount.at);
      });
  if (!is_seen && protection_.confined)
    return fail(ErrorKind::kInput,
                "{} is neither in the project nor in the task's folder, and a sandbox has nothing else", folder);
  if (!is_seen) request.writable.push_back(folder);
  for (const std::string& path : launch.writes) {
    const Fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!made && errno != EEXIST) return fail(ErrorKind::kIo, "cannot create {}: {}", path, errno_text(errno));
  }
  // Planned again for each step, because files to protect may have appeared since.
  TRY(prepare_home(request));
  TRY_VALUE(plan_, plan_sandbox(request, this_machine()));
  return enclosure_.inside(plan_, std::move(launch));
}

Result<record::SandboxNoted> RunShelter::settle(bool) {
  record::SandboxNoted noted;
  if (plan_.folder.empty()) return noted;
  TRY_VALUE(noted.taken, take_away_forbidden(plan_, to_iso8601(SystemClock().wall())));
  for (const Refusal& refusal : read_refusals(log_)) {
    int& reported = reported_[fmt::format("{}:{} {}", refusal.host, refusal.port, refusal.why)];
    const int news = refusal.count - reported;
    if (news <= 0) continue;
    reported = refusal.count;
    noted.requests += news;
    noted.blocked.push_back(ralph::describe(Refusal{refusal.host, refusal.port, refusal.why, news}));
  }
  return noted;
}

std::string RunShelter::describe() const {
  Protection now = protection_;
  now.limits = enclosure_.group.describe();
  return cli::describe(now);
}

}  // namespace ralph::cli
