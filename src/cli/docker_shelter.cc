#include "cli/docker_shelter.h"

#include <algorithm>

#include "base/text.h"
#include "cli/tell.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/packets.h"
#include "os/poll.h"
#include "policy/paths.h"
#include "sandbox/places.h"
#include "sandbox/private_home.h"
#include "task/task_mounts.h"

namespace ralph::cli {
namespace {

constexpr Milliseconds kPatienceWithAnnex{130'000};
constexpr std::string_view kAttemptVariable = "RALPH_ATTEMPT_ID", kAllPermissions = "--dangerously-skip-permissions";

// The variables of the launch's environment that a program inside gets.
std::map<std::string, std::string> passed(const SandboxPlan& plan, const Environment& environment) {
  constexpr std::array<std::string_view, 5> kOfThisMachine = {"PATH", "USER", "LOGNAME", "SHELL", "TERM"};
  std::map<std::string, std::string> variables;
  for (const std::string& line : environment.as_lines()) {
    const std::string name = line.substr(0, line.find('='));
    if (!is_listed(plan.variables, name) || name.starts_with("XDG_") || is_one_of(name, kOfThisMachine)) continue;
    variables[name] = line.substr(name.size() + 1);
  }
  variables[std::string(kSandboxVariable)] = "docker";
  return variables;
}

}  // namespace

Result<std::unique_ptr<DockerShelter>> DockerShelter::make(const Protection& protection, const Environment& environment,
                                                           const std::string& folder, Jobs& jobs) {
  std::unique_ptr<DockerShelter> shelter(new DockerShelter(protection));
  TRY_VALUE(MachinePlan plan, plan_machine(protection.agent, protection.docker));
  tell(fmt::format("Preparing the Docker Sandbox {} …\n", plan.name));
  const std::string state = plan.state;
  shelter->agent_.emplace(protection.docker, std::move(plan), environment);
  TRY(make_private_home(state));
  for (const AgentPlace& agent : protection.agent.agents) {
    for (const std::string& name : agent.copied) TRY(copy_to_private_home(protection.agent.home, state, name));
  }
  TRY(shelter->agent_->begin());
  if (protection.annex) TRY(shelter->start_annex(environment, folder, jobs));
  return shelter;
}

Result<std::unique_ptr<DockerShelter>> DockerShelter::for_child(const Protection& protection,
                                                                const Environment& environment) {
  std::unique_ptr<DockerShelter> shelter(new DockerShelter(protection));
  TRY_VALUE(MachinePlan plan, plan_machine(protection.agent, protection.docker));
  shelter->agent_.emplace(protection.docker, std::move(plan), environment);
  shelter->is_child_ = true;
  return shelter;
}

DockerShelter::~DockerShelter() {
  control_.close();
  if (agent_ && !is_child_) agent_->end();
  if (check_) check_->end();
}

// The outer end is a job of the guardian; it starts the inner end with `exec`.
Status DockerShelter::start_annex(const Environment& environment, const std::string& folder, Jobs& jobs) {
  const AnnexPlace& place = *protection_.annex;
  for (const std::string& path : {place.folder, parent_path(place.socket)}) TRY(agent_->make_folder(path));
  const std::string& helper = agent_->plan().helper;
  Words inside = {helper, "sandbox", "annex", "--folder", place.folder, "--task", place.task, "--socket", place.socket};
  for (const std::string& task : place.depends) inside.insert(inside.end(), {"--depends-on", task});
  Words words = inside;
  words.emplace_back("--");
  const Words exec = machine_exec(agent_->cli(), agent_->plan(), {"-i"}, inside);
  words.insert(words.end(), exec.begin(), exec.end());
  TRY_VALUE(PacketPair pair, make_packet_pair());
  JobRequest job;
  job.name = "annex";
  job.launch.argv = std::move(words);
  job.launch.environment = environment;
  job.launch.folder = protection_.agent.project;
  job.in.fd = pair.other.get();
  job.err.path = join_path(folder, kTaskMachineLog);
  TRY(jobs.start(job));
  control_ = std::move(pair.one);
  return synchronize();
}

// Waits until the task's folder and its mirror are in sync, as long as nobody writes to them.
Status DockerShelter::synchronize() {
  if (!control_) return {};
  TRY(send_packet(control_.get(), "level"));
  const SystemClock clock;
  const bool answered = wait_readable(control_.get(), clock.monotonic() + kPatienceWithAnnex);
  const auto packet = answered ? receive_packet(control_.get()) : std::nullopt;
  constexpr std::string_view kGood = "annex ";
  if (packet && packet->bytes == kGood) return {};
  return fail(ErrorKind::kIo, "the task's folder can't be kept in sync with the Docker Sandbox {}: {}",
              agent_->plan().name,
              packet && packet->bytes.starts_with(kGood) ? packet->bytes.substr(kGood.size()) : "nobody answers");
}

bool DockerShelter::is_seen(const std::string& folder) const {
  return is_within(folder, protection_.agent.project) ||
         std::ranges::any_of(protection_.agent.beside, [&](const Mount& mount) {
           return mount.kind == MountKind::kWritable && is_within(folder, mount.at);
         });
}

// Starts the program by its name inside the machine, which differs from that on the host.
Launch DockerShelter::started(Launch launch, bool check, const std::string& variables) const {
  const MachinePlan& plan = last_->plan();
  const auto own = std::ranges::find_if(protection_.agent.agents, [&](const AgentPlace& agent) {
    return !agent.any_machine && !agent.programs.empty() && agent.programs.front() == launch.argv[0];
  });
  const bool is_agent = !check && own != protection_.agent.agents.end();
  if (is_agent && plan.runs && !is_child_) {
    launch.argv = machine_run(last_->cli(), plan, {launch.argv.begin() + 1, launch.argv.end()}, launch.input);
    return launch;
  }
  Words options = {"-w", launch.folder};
  if (!launch.input.empty()) options.insert(options.begin(), "-i");
  if (is_agent) {
    launch.argv[0] = plan.from;
    // The same flag that `run` uses, which can't be used here because it is already active.
    if (own->machine_runs && std::ranges::find(launch.argv, kAllPermissions) == launch.argv.end())
      launch.argv.insert(launch.argv.begin() + 1, std::string(kAllPermissions));
  } else if (!check && !is_seen(launch.argv[0])) {
    launch.argv[0] = base_name(launch.argv[0]);
  }
  launch.argv = machine_start(last_->cli(), plan, options, launch.argv, variables);
  return launch;
}

Result<Launch> DockerShelter::enclose(StepKind kind, Launch launch) {
  last_ = nullptr;
  if (kind == StepKind::kScm || (kind == StepKind::kGuardrail && protection_.checks_on_host))
    return on_host(kind, std::move(launch), protection_.agent.project);
  if (!launch.project.empty() || !is_seen(real_path(launch.folder)))
    return fail(ErrorKind::kInput, "{} is not in the project{}, and a Docker Sandbox has nothing else", launch.folder,
                protection_.agent.task.empty() ? "" : " or the task's folder");
  const bool check = kind == StepKind::kGuardrail;
  const bool alone = !is_child_ && children_() == 0;
  if (check && !check_) {
    TRY_VALUE(MachinePlan plan, plan_machine(protection_.check, protection_.docker));
    check_.emplace(protection_.docker, std::move(plan), agent_->environment());
    TRY(check_->begin());
  } else if (!is_child_) {
    TRY((check ? *check_ : *agent_).catch_up(check || alone));
  }
  last_ = check ? &*check_ : &*agent_;
  TRY_VALUE(const SandboxPlan plan, plan_sandbox(check ? protection_.check : protection_.agent, this_machine()));
  // An active child run may have changed something already.
  if (alone) guarded_ = GuardedCopy::of(plan);
  auto variables = passed(plan, launch.environment);
  const Environment outside = last_->environment();
  attempt_ = check ? "" : launch.environment.get(std::string(kAttemptVariable)).value_or("");
  if (!check && !is_child_) {
    // Hooks read these files at the same paths.
    for (const std::string& path : protection_.agent.own_state) {
      const auto content = is_real_file(path) ? read_file(path) : Result<std::string>("");
      if (!content || content->empty()) continue;
      TRY(last_->write(path, *content, false, true));
      variables["XDG_STATE_HOME"] = user_folder(outside, "XDG_STATE_HOME", ".local/state");
    }
    TRY(synchronize());
  }
  std::string file(kTurnVariables);
  if (is_child_) {
    file = fmt::format("/etc/ralph-child-{}.sh", attempt_);
    TRY(last_->write(file, environment_script(variables), false, true));
  } else {
    TRY(last_->set_environment(variables));
  }
  launch = started(std::move(launch), check, file);
  launch.environment = outside;
  launch.folder = protection_.agent.project;  // the folder that it works in may not exist on the host yet
  // Containment looks for this variable: the client on this machine belongs to the run.
  for (const char* name : {"RALPH_RUN_ID"})
    if (const auto id = variables.find(name); id != variables.end()) launch.environment.set(name, id->second);
  return launch;
}

// Ends what the attempt has left running in the machine. Its child runs have ids of their own.
Status DockerShelter::end_attempt() {
  if (attempt_.empty()) return {};
  return last_->command({last_->plan().helper, "sandbox", "end", fmt::format("{}={}", kAttemptVariable, attempt_)});
}

Result<record::SandboxNoted> DockerShelter::settle(bool forced) {
  record::SandboxNoted noted;
  if (!last_) return noted;
  const bool stops = forced && !is_child_ && children_() == 0;
  if (!stops) TRY(end_attempt());
  if (!attempt_.empty()) TRY(synchronize());  // fetches what it wrote last
  if (!is_child_) {
    TRY(last_->settle(stops));
    TRY_VALUE(noted.taken, put_back());
  }
  last_ = nullptr;
  return noted;
}

Result<std::vector<std::string>> DockerShelter::put_back() const {
  return guarded_.put_back(to_iso8601(SystemClock().wall()));
}

std::string DockerShelter::describe() const {
  return cli::describe(protection_);
}

}  // namespace ralph::cli
