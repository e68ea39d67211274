// ralph task run: restarts an agent until the task's folder contains the file DONE.
#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/agent_options.h"
#include "cli/docker_shelter.h"
#include "cli/dry_run.h"
#include "cli/limits.h"
#include "cli/loop_options.h"
#include "cli/note_start.h"
#include "cli/registry.h"
#include "cli/task_agents.h"
#include "cli/task_options.h"
#include "cli/typed_task.h"
#include "engine/diagnose.h"
#include "engine/engine.h"
#include "engine/roster.h"
#include "task/dependencies.h"
#include "task/task_mounts.h"
#include "task/task_state.h"
#include "task/task_way.h"

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

std::string refusal_of_task(const TaskPlace& place, const std::optional<LockOwner>& owner) {
  return fmt::format("task {}/{} has a supervisor already: pid {}, since {}; 'ralph task stop' ends it", place.project,
                     place.task, owner ? owner->pid : 0, owner ? owner->since : "?");
}

// Starting again settles earlier requests to stop or to wait.
Status clear_requests(const TaskPlace& place) {
  for (const std::string& path : {place.stop_request(), place.wait_request()}) {
    if (!path_exists(path)) continue;
    if (::unlink(path.c_str()) != 0)
      return fail(ErrorKind::kInput, "cannot remove {}: {}; remove it yourself", path, errno_text(errno));
  }
  return {};
}

RunTitle title_of(const TypedTask& task, const std::vector<Agent>& agents) {
  RunTitle title{WayIn::kTask, names_of(agents), {}, instructions_of(task.request).value_or(""), agents};
  title.prompt_source = task.request.prompt                 ? "the command line"
                        : !task.request.prompt_file.empty() ? task.request.prompt_file
                        : title.prompt.empty()              ? "none: the command gets no prompt"
                                                            : task.request.place.instructions();
  return title;
}

// Everything that the task may start: its agent or command and, for child runs, every other installed agent of the
// settings.
std::vector<Agent> agents_inside(const TypedTask& task, const Environment& environment) {
  const Settings& settings = task.setup.loaded.settings;
  const std::string& project = task.setup.project;
  auto agents = task_agents(task.words, settings, environment, project).value_or(std::vector<Agent>());
  for (const auto& [name, definition] : settings.agents) {
    auto more = make_agents_with(name, "agents", settings, environment, project);
    if (more && std::ranges::find(agents, name, &Agent::name) == agents.end()) agents.push_back(more->front());
  }
  return agents;
}

// Creates the files of the root that are visible inside, before anything is started.
Status prepare_sandbox(TypedTask& task, const std::string& socket) {
  Protection& protection = task.setup.protection;
  const TaskPlace& place = task.request.place;
  if (!path_exists(place.file("task.yaml"))) TRY(set_dependencies(place, {}));
  for (const std::string& path : {place.file(kTaskEgressLog), place.project_bus()}) {
    const Fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!made) return fail(ErrorKind::kIo, "cannot create {}: {}", path, errno_text(errno));
  }
  for (const std::string& name : variables_of_task()) protection.agent.variables.push_back(name);
  if (protection.in_machine) {
    protection.agent.beside = {{MountKind::kWritable, place.folder(), place.folder(), "the task"}};
    protection.annex = {place.project_folder(), place.task, task.request.depends, socket};
    return {};
  }
  TRY_VALUE(protection.agent.beside, mounts_of_task(place, task.request.depends, socket, protection.agent.project));
  return {};
}

// Child runs share the sandbox of their task.
void share_sandbox(const TypedTask& task, const Shelter* shelter, ChildrenSetup& family) {
  if (!shelter) return;
  const Protection& protection = task.setup.protection;
  family.sandbox = protection.agent;
  if (protection.in_machine) {
    family.machine = protection.docker.words;
    family.sync_ms = static_cast<int>(protection.sync.count());
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

// The task's own folder instead of the project's .ralph. `task` must outlive it.
RunKeeper keeper_of(TypedTask& task, const std::string& socket) {
  const TaskPlace& place = task.request.place;
  RunKeeper keeper{place.folder(), locks_of(place), {}, {}, {}};
  keeper.run_id = [&place] { return run_id_of(place); };
  keeper.prepare = [&task, socket]() -> Status {
    TRY(clear_requests(task.request.place));
    return task.setup.protection.on ? prepare_sandbox(task, socket) : Status();
  };
  keeper.refusal = [&place](const auto& owner) { return refusal_of_task(place, owner); };
  return keeper;
}

// Runs in the guarded process.
Result<Decision> supervise(TypedTask& task, const std::string& socket, Run& run, RunMeans means) {
  const TaskPlace& place = task.request.place;
  const Settings& settings = task.setup.loaded.settings;
  TRY(correct_dead_attempts(place, true));
  const Progress& before = run.progress();
  task.request.was_complete = before.status == StopStatus::kComplete;
  const bool taken_again = before.iteration_open && !before.turn_is_over();
  run.policy.max_iterations = task.restarts + before.iteration - (taken_again ? 1 : 0);
  TRY_VALUE(const std::vector<Agent> agents, task_agents(task.words, settings, run.environment, run.project));
  TRY(note_start(run, task.setup, title_of(task, agents)));
  TRY_VALUE(const std::string program, path_of_this_program());
  ChildrenSetup family{place,       run.id,     program,   socket,      run.environment,
                       run.project, means.jobs, run.clock, run.redactor};
  share_sandbox(task, run.shelter, family);
  auto* const machine = dynamic_cast<DockerShelter*>(run.shelter);
  if (machine) {
    family.on_end = [&] {
      if (const Status done = put_back_after_child(run, *machine); !done) run.listener.on_trouble(done.error().message);
    };
  }
  TRY_VALUE(const auto children, Children::open(std::move(family), means.processes));
  if (machine) machine->watch_children([&] { return children->alive(); });
  std::vector<std::pair<std::string, std::string>> variables = {{"RALPH_JOB_SOCKET", socket}};
  for (const auto& [name, value] : task_variables(place)) variables.emplace_back(name, value);
  TaskWay way(run, task.request, agents, settings.stream_agent_output, children.get(), std::move(variables),
              run.environment.get("RALPH_ATTEMPT_ID").value_or(""));
  return drive(run, way);
}

Result<Protection> task_protection(const TypedTask& task, const Environment& environment) {
  const std::vector<Agent> agents = agents_inside(task, environment);
  const TaskPlace& place = task.request.place;
  SandboxSubject subject{task.setup.loaded.settings, task.setup.project, environment, agents};
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
  const RunSetup& setup = task.setup;
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const auto agents, task_agents(task.words, setup.loaded.settings, environment, setup.project));
  TRY_VALUE(const Protection protection, task_protection(task, environment));
  task.request.reach = reach_of(task, protection);
  TRY_VALUE(const std::string prompt, instructions_of(task.request));
  DryRun dry{setup.loaded, protection, setup.project, agents, prompt, "the task", {}};
  dry.iterations = fmt::format(
      "up to {}, {} apart, complete when {} exists{}", count_of(task.restarts, "attempt"),
      human_duration(setup.policy.restart_delay), task.request.place.done(),
      task.request.checks.empty() ? "" : fmt::format(" and these pass: {}", join_for_people(task.request.checks)));
  if (setup.policy.has_criteria()) dry.iterations += "; with criteria over what the project's tools say";
  const auto limit = [](Milliseconds time) { return time.count() > 0 ? human_duration(time) : std::string("none"); };
  dry.limits = fmt::format("Time limits  attempt {}, silence {}, child runs after DONE {}, run {}\n",
                           limit(setup.policy.agent_time_limit), limit(setup.policy.agent_idle_limit),
                           limit(setup.policy.child_wait), limit(setup.policy.run_time_limit));
  for (const std::string& check : task.request.checks) dry.limits += fmt::format("Check        {}\n", check);
  return print_dry_run(dry, setup.json);
}

Result<int> run_task(const Arguments& arguments) {
  TRY_VALUE(TypedTask task, task_from_arguments(arguments));
  RunSetup& setup = task.setup;
  const TaskPlace& place = task.request.place;
  TRY(task_agents(task.words, setup.loaded.settings, Environment::of_this_process(), setup.project));
  if (arguments.has("dry-run")) return print_plan(task);
  // Everything that can be refused is refused before anything is written.
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(setup.protection, task_protection(task, environment));
  if (!setup.protection.why_not.empty())
    static_cast<void>(write_all(STDERR_FILENO, opening_line(setup.protection), "standard error"));
  task.request.reach = reach_of(task, setup.protection);
  if (const auto owner = supervisor_of(place); owner && !owner->is_dead())
    return fail(ErrorKind::kBusy, "{}", refusal_of_task(place, owner));
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
  if (task.words.empty()) {
    TRY_VALUE(setup.ticket, accept_project({setup.loaded, setup.project, arguments.has("trust"), setup.json}));
  }
  const bool typed = std::any_of(std::begin(kCriteriaOptions), std::end(kCriteriaOptions),
                                 [&](const Option& option) { return arguments.has(option.name); });
  TRY(check_criteria(setup.policy, setup.project, Environment::of_this_process(),
                     typed ? "task run" : "settings: diagnostics.criteria"));
  TRY(make_task_folder(place));
  // Inside a sandbox, a symbolic link in the path could lead to where nothing is mounted.
  if (setup.protection.on) task.request.place.root = real_path(place.root);
  if (!depends.empty()) TRY(set_dependencies(place, depends));
  task.request.depends = dependencies_of(place);
  if (task.request.prompt && !path_exists(place.instructions()))
    TRY(write_file_atomically(place.instructions(), *task.request.prompt + "\n"));
  TRY(remember_root(environment, place.root));
  TRY_VALUE(const std::string socket, job_socket_path(place, environment));
  const RunKeeper keeper = keeper_of(task, socket);
  setup.keeper = &keeper;
  return start_run(setup,
                   [&](Run& run, RunMeans means) -> Result<Decision> { return supervise(task, socket, run, means); });
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
