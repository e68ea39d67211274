// ralph task run: restarts an agent until the task's folder contains the file DONE.
#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

#include "base/text.h"
#include "cli/accept.h"
#include "cli/agent_options.h"
#include "cli/docker_shelter.h"
#include "cli/dry_run.h"
#include "cli/limits.h"
#include "cli/loop_options.h"
#include "cli/protection.h"
#include "cli/registry.h"
#include "cli/resume.h"
#include "cli/run_servers.h"
#include "cli/start_run.h"
#include "cli/task_agents.h"
#include "cli/task_options.h"
#include "cli/typed_task.h"
#include "engine/diagnose.h"
#include "engine/engine.h"
#include "engine/resume.h"
#include "engine/roster.h"
#include "engine/step.h"
#include "engine/trigger_places.h"
#include "history/receipt.h"
#include "os/guardian.h"
#include "os/lock.h"
#include "os/processes_linux.h"
#include "os/tty.h"
#include "task/dependencies.h"
#include "task/task_mounts.h"
#include "task/task_state.h"
#include "task/task_way.h"
#include "version.h"

namespace ralph::cli {
namespace {

constexpr auto kOptions = joined(
    kTaskOptions,
    std::array{
        Option{"prompt", 'p', "TEXT", "What to do; saved as TASK.md unless that exists (default: TASK.md)."},
        Option{"prompt-file", 'f', "FILE", "A file that says what to do, reread for each attempt."},
        Option{"max-restarts", 0, "N", "At most N attempts by this command (default 100)."},
        Option{"restart-delay", 0, "D", "Wait this long before a restart, such as 10ms, 5s or 10m (default 1s)."},
        Option{"child-wait", 0, "D", "After DONE, wait this long for child runs (default 5m)."},
        Option{"done-grace", 0, "D", "How long the agent may keep running after DONE (default 30s)."},
        Option{"poll", 0, "D", "How often to check for DONE if the system has no file events left (default 1s)."},
        Option{"idle-timeout", 0, "D", "End an attempt that prints nothing for this long (default: never)."},
        Option{"run-timeout", 0, "D", "End an attempt that takes this long; it counts as failed (default: never)."},
        Option{.name = "depends-on",
               .letter = 0,
               .value = "T",
               .help = "Start only when this task of the project is done.",
               .repeatable = true},
        Option{.name = "check",
               .letter = 0,
               .value = "COMMAND",
               .help = "DONE counts only if this command exits with 0; otherwise it is removed.",
               .repeatable = true},
        kAgentOption,
        kModelOptionWithoutLetter,
    },
    kCriteriaOptions, kLimitOptions, kSandboxOptions,
    std::array{
        kTrustOption,
        Option{"dry-run", 0, "", "Print the command line, the prompt and the limits, and start nothing."},
        Option{"verbose", 'V', "", "Print details on standard error."},
        Option{"json", 0, "", "Print one JSON record per step instead of text."},
    });
constexpr std::array kPositionals = {Positional{
    "COMMAND", "A command to run instead of an agent, after --; the prompt is its last argument.", false, true}};

constexpr Milliseconds kDyingSupervisorWait{5'000}, kTaskLockPoll{20};

bool has_dead_supervisor(const TaskPlace& place) {
  const auto owner = supervisor_of(place);
  return owner && owner->pid > 0 && start_time_of(owner->pid) == 0;
}

tl::unexpected<Error> has_supervisor(const TaskPlace& place, const std::optional<Supervisor>& owner) {
  return fail(ErrorKind::kBusy, "task {}/{} has a supervisor already: pid {}, since {}; 'ralph task stop' ends it",
              place.project, place.task, owner ? owner->pid : 0, owner ? owner->since : "?");
}

Result<std::vector<Lock>> take_locks(const TaskPlace& place) {
  auto lock = lock_task(place);
  // A supervisor whose guardian was killed is still ending its agent. That takes only a moment.
  for (Milliseconds waited{0};
       !lock && lock.error().kind == ErrorKind::kBusy && has_dead_supervisor(place) && waited < kDyingSupervisorWait;
       waited += kTaskLockPoll) {
    std::this_thread::sleep_for(kTaskLockPoll);
    lock = lock_task(place);
  }
  if (lock || lock.error().kind != ErrorKind::kBusy) return lock;
  return has_supervisor(place, supervisor_of(place));
}

// Starting again settles earlier requests to stop or to wait.
Status clear_requests(const TaskPlace& place) {
  for (const std::string& path : {place.stop_request(), place.wait_marker()}) {
    if (!path_exists(path)) continue;
    if (::unlink(path.c_str()) != 0)
      return fail(ErrorKind::kInput, "cannot remove {}: {}; remove it yourself", path, errno_text(errno));
  }
  return {};
}

bool has_secrets(const Run& run, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) { return run.redactor.redact(word) != word; });
}

Status note_beginning(Run& run, const TypedTask& task, const std::vector<Agent>& agents) {
  run.policy.agent_programs = program_words(agents);
  if (!run.is_resumed()) {
    record::RunStarted started;
    started.run_id = run.id;
    started.way = WayIn::kTask;
    started.ralph_version = RALPH_VERSION;
    started.project = run.project;
    started.agent = names_of(agents);
    started.prompt = instructions_of(task.request).value_or("");
    started.prompt_source = task.request.prompt                 ? "the command line"
                            : !task.request.prompt_file.empty() ? task.request.prompt_file
                            : started.prompt.empty()            ? "none: the command gets no prompt"
                                                                : task.request.place.instructions();
    started.pid = guardian_pid();
    started.max_iterations = run.policy.max_iterations;
    started.settings = task.loaded.effective;
    started.folder = task.typed_in;
    started.arguments = task.arguments;
    started.masked = has_secrets(run, task.arguments);
    return run.note(std::move(started));
  }
  const SweepReport& swept = run.swept_before;
  const WallTime last = last_sign_of_life(run);
  record::RunResumed resumed;
  resumed.run_id = run.id;
  resumed.ralph_version = RALPH_VERSION;
  resumed.agent = names_of(agents);
  resumed.arguments = task.arguments;
  resumed.folder = task.typed_in;
  resumed.masked = has_secrets(run, task.arguments);
  resumed.pid = guardian_pid();
  resumed.max_iterations = run.policy.max_iterations;
  resumed.spent_ms = (run.progress().run_time + (last - run.progress().last_record)).count();
  resumed.settings = task.loaded.effective;
  run.disbelieve(resumed);
  TRY(run.note(std::move(resumed)));
  if (!swept.ended.empty() || !swept.survivors.empty()) TRY(run.note(swept_after(StepKind::kAgent, swept)));
  return close_killed_attempt(run, agents, task.loaded.settings.stream_agent_output, last);
}

// Everything that the task may start: its agent or command and, for child runs, every other installed agent of the
// settings.
std::vector<Agent> agents_inside(const TypedTask& task, const Environment& environment) {
  auto agents = task_agents(task.words, task.loaded.settings, environment, task.project).value_or(std::vector<Agent>());
  for (const auto& [name, definition] : task.loaded.settings.agents) {
    auto more = make_agents_with(name, "agents", task.loaded.settings, environment, task.project);
    if (more && std::ranges::find(agents, name, &Agent::name) == agents.end()) agents.push_back(more->front());
  }
  return agents;
}

// Creates the files of the root that are visible inside, before anything is started.
Status prepare_sandbox(TypedTask& task, const std::string& socket) {
  const TaskPlace& place = task.request.place;
  if (!path_exists(place.file("task.yaml"))) TRY(set_dependencies(place, {}));
  for (const std::string& path : {place.file(kTaskEgressLog), place.project_bus()}) {
    const Fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!made) return fail(ErrorKind::kIo, "cannot create {}: {}", path, errno_text(errno));
  }
  for (const std::string& name : variables_of_task()) task.protection.agent.variables.push_back(name);
  if (task.protection.in_machine) {
    task.protection.agent.beside = {{MountKind::kWritable, place.folder(), place.folder(), "the task"}};
    task.protection.annex = {place.project_folder(), place.task, task.request.depends, socket};
    return {};
  }
  TRY_VALUE(task.protection.agent.beside,
            mounts_of_task(place, task.request.depends, socket, task.protection.agent.project));
  return {};
}

// Child runs share the sandbox of their task.
void share_sandbox(const TypedTask& task, const Shelter* shelter, ChildrenSetup& family) {
  if (!shelter) return;
  family.sandbox = task.protection.agent;
  if (task.protection.in_machine) {
    family.machine = task.protection.docker.words;
    family.sync_ms = static_cast<int>(task.protection.sync.count());
  } else if (const auto* bubblewrap = dynamic_cast<const RunShelter*>(shelter)) {
    family.sandbox->socket = bubblewrap->socket();
    family.sandbox->groups = bubblewrap->groups();
  }
}

// If a child run ends while no attempt is active, no later step would restore what it changed.
Status put_back_after_child(Run& run, const DockerShelter& shelter) {
  record::SandboxNoted noted;
  TRY_VALUE(noted.taken, shelter.put_back());
  return noted.taken.empty() ? Status() : run.note(std::move(noted));
}

// Runs in the guarded process.
Result<int> supervise(TypedTask& task, const TrustTicket* ticket, int guardian) {
  const TaskPlace& place = task.request.place;
  const SystemClock clock;
  std::unique_ptr<RunListener> watcher;  // destroyed last: a slow reader must not hold up the release of the lock
  LinuxProcesses processes(clock, guardian);
  Environment environment = Environment::of_this_process();
  TRY_VALUE(std::vector<Lock> locks, take_locks(place));
  TRY(clear_requests(place));
  std::string id = run_id_of(place);
  // Must happen before this process starts anything, because its own jobs carry the run's id too.
  SweepReport swept;
  if (!id.empty()) swept = end_processes_with("RALPH_RUN_ID=" + id, stop_abandoned());
  if (id.empty()) id = new_run_id(clock.wall());
  for (Lock& lock : locks)
    TRY(lock.name_owner(supervisor_line({id, to_iso8601(clock.wall()), guardian_pid(), ::getpid()})));
  const std::string parent = environment.get("RALPH_ATTEMPT_ID").value_or("");
  environment.set("RALPH_RUN_ID", id);
  environment.unset("RALPH_TRUST");  // a person's word, not an agent's
  if (ticket) TRY(ticket->begin());
  const Redactor redactor(environment.as_lines(), secret_candidates(task.loaded.settings));
  const RunSetup setup{task.loaded, task.project, task.verbose, task.json, task.policy, 0, task.arguments};
  watcher = make_watcher(setup, place.folder(), environment);
  for (Outlet* outlet : watcher->outlets()) processes.serve(*outlet);
  TRY_VALUE(const std::string socket, job_socket_path(place, environment));
  Jobs jobs(guardian);
  processes.watch_jobs(jobs);
  std::unique_ptr<Shelter> shelter;
  if (task.protection.on) {
    TRY(prepare_sandbox(task, socket));
    TRY_VALUE(shelter, put_in_force(task.protection, environment, place.folder(), jobs));
  }
  RunServers servers;
  TRY(servers.start({task.policy, task.project, environment, shelter.get(), task.protection.checks_in_machine()},
                    jobs));
  auto* const machine = dynamic_cast<DockerShelter*>(shelter.get());
  // The seal's existence shows that this user started the run. `ralph runs resume` requires that.
  const std::string seal = seal_path(place.folder(), id);
  if (seal.empty()) {
    watcher->on_trouble(kNoStateFolder);
  } else {
    TRY_VALUE([[maybe_unused]] const Fd made, open_for_append(seal));
  }
  const std::string store = watched_store(place.folder(), id);
  TRY_VALUE(Run run, Run::open({id, place.folder()}, task.policy,
                               {processes, clock, redactor, *watcher, task.project, environment, store, seal,
                                shelter.get(), servers.socket()}));
  run.swept_before = std::move(swept);
  TRY(correct_dead_attempts(place, true));
  const Progress& before = run.progress();
  task.request.was_complete = before.status == StopStatus::kComplete;
  const bool taken_again = before.iteration_open && !before.turn_is_over();
  run.policy.max_iterations = task.restarts + before.iteration - (taken_again ? 1 : 0);
  TRY_VALUE(const std::vector<Agent> agents,
            task_agents(task.words, task.loaded.settings, run.environment, task.project));
  TRY(note_beginning(run, task, agents));
  TRY(note_shelter(run));
  TRY_VALUE(const std::string program, path_of_this_program());
  ChildrenSetup family{place, id, program, socket, environment, task.project, jobs, clock, redactor};
  share_sandbox(task, shelter.get(), family);
  if (machine) {
    family.on_end = [&] {
      if (const Status done = put_back_after_child(run, *machine); !done) run.listener.on_trouble(done.error().message);
    };
  }
  TRY_VALUE(const auto children, Children::open(std::move(family), processes));
  if (machine) machine->watch_children([&] { return children->alive(); });
  std::vector<std::pair<std::string, std::string>> variables = {{"RALPH_JOB_SOCKET", socket}};
  for (const auto& [name, value] : task_variables(place)) variables.emplace_back(name, value);
  TaskWay way(run, task.request, agents, task.loaded.settings.stream_agent_output, children.get(), std::move(variables),
              parent);
  const Result<Decision> ended = drive(run, way);
  if (run.progress().status != StopStatus::kNone) {
    if (const Status written = write_receipt(place.folder()); !written)
      fmt::print(stderr, "ralph: the receipt could not be written: {}\n", written.error().message);
  }
  TRY_VALUE(const Decision decision, ended);
  const bool said = !task.json && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
  if (decision.status == StopStatus::kFatal && !said) return fail(ErrorKind::kInput, "{}", decision.reason);
  return exit_code_of(decision.status);
}

Result<Protection> task_protection(const TypedTask& task, const Environment& environment) {
  const std::vector<Agent> agents = agents_inside(task, environment);
  const TaskPlace& place = task.request.place;
  SandboxSubject subject{task.loaded.settings, task.project, environment, agents};
  subject.task = fmt::format("{}/{}", place.project, place.task);
  subject.task_folder = place.folder();
  subject.typed = !task.words.empty();
  return choose_protection(subject, false);
}

std::vector<std::string> reach_of(const TypedTask& task, const Protection& protection) {
  if (!protection.on) return {};
  return {protection.agent.project, real_path(task.request.place.folder())};
}

Result<int> print_plan(TypedTask& task) {
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const auto agents, task_agents(task.words, task.loaded.settings, environment, task.project));
  TRY_VALUE(const Protection protection, task_protection(task, environment));
  task.request.reach = reach_of(task, protection);
  TRY_VALUE(const std::string prompt, instructions_of(task.request));
  DryRun dry{task.loaded, protection, task.project, agents, prompt, "the task", {}};
  dry.iterations = fmt::format(
      "up to {}, {} apart, complete when {} exists{}", count_of(task.restarts, "attempt"),
      human_duration(task.policy.restart_delay), task.request.place.done(),
      task.request.checks.empty() ? "" : fmt::format(" and these pass: {}", join_for_people(task.request.checks)));
  if (task.policy.has_criteria()) dry.iterations += "; with criteria over what the project's tools say";
  const auto limit = [](Milliseconds time) { return time.count() > 0 ? human_duration(time) : std::string("none"); };
  dry.limits = fmt::format("Time limits  attempt {}, silence {}, child runs after DONE {}, run {}\n",
                           limit(task.policy.agent_time_limit), limit(task.policy.agent_idle_limit),
                           limit(task.policy.child_wait), limit(task.policy.run_time_limit));
  for (const std::string& check : task.request.checks) dry.limits += fmt::format("Check        {}\n", check);
  return print_dry_run(dry, task.json);
}

Result<int> run_task(const Arguments& arguments) {
  TRY_VALUE(TypedTask task, task_from_arguments(arguments));
  const TaskPlace& place = task.request.place;
  TRY(task_agents(task.words, task.loaded.settings, Environment::of_this_process(), task.project));
  if (arguments.has("dry-run")) return print_plan(task);
  // Everything that can be refused is refused before anything is written.
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(task.protection, task_protection(task, environment));
  if (!task.protection.why_not.empty())
    static_cast<void>(write_all(STDERR_FILENO, opening_line(task.protection), "standard error"));
  task.request.reach = reach_of(task, task.protection);
  if (const auto owner = supervisor_of(place); owner && !has_dead_supervisor(place))
    return has_supervisor(place, owner);
  const bool is_new = !path_exists(place.folder());
  if (task.request.prompt || !task.request.prompt_file.empty() || !is_new) TRY(instructions_of(task.request));
  if (is_new && !task.request.prompt && task.request.prompt_file.empty() && !task.request.is_command)
    return fail(ErrorKind::kUsage, "what is the task? Give --prompt or --prompt-file, or write {}",
                place.instructions());
  const std::vector<std::string> depends = arguments.values("depends-on");
  for (const std::string& name : depends) {
    if (name == place.task) return fail(ErrorKind::kUsage, "--depends-on {}: a task can't wait for itself", name);
    TRY(existing_task(place.root, place.project, name));
  }
  // A command that a person types is their own choice; an agent comes from the project.
  std::optional<TrustTicket> ticket;
  if (task.words.empty()) {
    TRY_VALUE(ticket, accept_project({task.loaded, task.project, arguments.has("trust"), task.json}));
  }
  const bool typed = std::any_of(std::begin(kCriteriaOptions), std::end(kCriteriaOptions),
                                 [&](const Option& option) { return arguments.has(option.name); });
  TRY(check_criteria(task.policy, task.project, Environment::of_this_process(),
                     typed ? "task run" : "settings: diagnostics.criteria"));
  TRY(make_task_folder(place));
  // Inside a sandbox, a symbolic link in the path could lead to where nothing is mounted.
  if (task.protection.on) task.request.place.root = real_path(place.root);
  if (!depends.empty()) TRY(set_dependencies(place, depends));
  task.request.depends = dependencies_of(place);
  if (task.request.prompt && !path_exists(place.instructions()))
    TRY(write_file_atomically(place.instructions(), *task.request.prompt + "\n"));
  TRY(remember_root(environment, place.root));
  TRY_VALUE(const int code, run_guarded([&](int guardian) {
              const Result<int> ended = supervise(task, ticket ? &*ticket : nullptr, guardian);
              return ended ? *ended : report(ended.error());
            }));
  if (ticket) ticket->end();
  if (const std::string id = run_id_of(place); was_killed(code) && !id.empty()) say_how_to_continue(task.project, id);
  return code;
}

}  // namespace

const Command kTaskRun = {
    "task run",
    "Supervise a task: restart its agent until it creates the file DONE.",
    R"(Starts the agent in the current project and restarts it whenever it ends, whatever its exit code, until the file
DONE exists in the task's folder ($TASK_FOLDER), the attempts are used up, or the agent says that it is waiting for a
person: with exit code 42, with a message of type wait_without_restart on its bus, or with the file
WAIT_WITHOUT_RESTART. DONE is noticed at once. Everything that an attempt started ends with it, except child runs
(`ralph job`): after DONE, the supervisor waits for those.

Exit codes: 0 DONE, 1 stopped by a limit, such as the number of attempts, 2 bad settings, bad usage or a fatal start
error, 3 the agent is waiting for a person, 130 interrupted or stopped.)",
    R"(ralph task run --root tasks --project shop --task cart --prompt 'Make the cart keep its items'
ralph task run --root tasks --project shop --task cart --agent codex --max-restarts 10 --restart-delay 5s
ralph task run --root tasks --project shop --task cart --check 'make test'
ralph task run --root tasks --project shop --task deploy --depends-on cart -- ./deploy.sh)",
    kOptions,
    kPositionals,
    run_task,
};

}  // namespace ralph::cli
