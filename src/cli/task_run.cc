// ralph task run: restarts an agent until the task's folder has the file DONE.
#include <array>
#include <climits>
#include <thread>
#include <unistd.h>

#include "base/text.h"
#include "cli/accept.h"
#include "cli/agent_options.h"
#include "cli/dry_run.h"
#include "cli/durations.h"
#include "cli/limits.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "cli/start_run.h"
#include "cli/task_agents.h"
#include "cli/task_options.h"
#include "engine/engine.h"
#include "engine/resume.h"
#include "engine/roster.h"
#include "engine/step.h"
#include "os/guardian.h"
#include "os/lock.h"
#include "os/processes_linux.h"
#include "os/tty.h"
#include "task/dependencies.h"
#include "task/task_state.h"
#include "task/task_way.h"
#include "version.h"

namespace ralph::cli {
namespace {

constexpr auto kOptions = joined(
    kTaskOptions,
    std::array{
        Option{"prompt", 'p', "TEXT", "What to do; kept in TASK.md if there is none (default: TASK.md)."},
        Option{"prompt-file", 'f', "FILE", "What to do is in this file, read anew for each attempt."},
        Option{"max-restarts", 0, "N", "At most N attempts of this command (default 100)."},
        Option{"restart-delay", 0, "D", "Wait this long before a restart, as 10ms, 5s, 10m (default 1s)."},
        Option{"child-wait", 0, "D", "When DONE is there, wait this long for child runs (default 5m)."},
        Option{"done-grace", 0, "D", "How long an agent may run on after DONE (default 30s)."},
        Option{"poll", 0, "D", "How often to look for DONE where no file events are left (default 1s)."},
        Option{"idle-timeout", 0, "D", "End an attempt that prints nothing for this long (default: never)."},
        Option{"run-timeout", 0, "D", "End an attempt that takes this long; it counts as failed (default: never)."},
        Option{.name = "depends-on",
               .letter = 0,
               .value = "T",
               .help = "Begin when this task of the project is done.",
               .repeatable = true},
        kAgentOption,
        kModelOptionWithoutLetter,
    },
    kLimitOptions,
    std::array{
        kTrustOption,
        Option{"dry-run", 0, "", "Print the command line, the prompt and the limits, and start nothing."},
        Option{"verbose", 'V', "", "Print details on standard error."},
        Option{"json", 0, "", "Print one JSON record per step instead of text."},
    });
constexpr std::array kPositionals = {Positional{
    "COMMAND", "A command to run instead of an agent, after --; the prompt is its last argument.", false, true}};

constexpr Milliseconds kPatienceWithTheDying{5'000}, kLockPoll{20};
constexpr int kDefaultRestarts = 100;

struct Task {
  TaskRequest request;
  LoadedSettings loaded;
  std::vector<std::string> words;  // of the command
  std::string project;             // where the agent works
  std::string typed_in;
  Policy policy;
  int restarts = kDefaultRestarts;
  bool verbose = false, json = false;
  std::vector<std::string> arguments;
};

Result<TaskRequest> request_from(const Arguments& arguments, const std::string& typed_in) {
  const auto root = arguments.value("root"), project = arguments.value("project"), task = arguments.value("task");
  if (!root || !project || !task)
    return fail(ErrorKind::kUsage, "which task? Give --root DIR, --project P and --task T; the folders are made");
  TaskRequest request;
  TRY_VALUE(request.place, task_place(absolute_path(*root, typed_in), *project, *task));
  const auto prompt = arguments.value("prompt"), file = arguments.value("prompt-file");
  if (prompt && file) return fail(ErrorKind::kUsage, "give --prompt or --prompt-file, not both");
  if (prompt) {
    if (trim(*prompt).empty()) return fail(ErrorKind::kUsage, "--prompt is blank");
    request.prompt = *prompt;
  }
  if (file) request.prompt_file = absolute_path(*file, typed_in);
  request.is_command = !arguments.positionals().empty();
  return request;
}

Result<Task> task_from_arguments(const Arguments& arguments) {
  Task task;
  TRY_VALUE(const std::string here, current_directory());
  TRY_VALUE(task.request, request_from(arguments, here));
  TRY_VALUE(const Project place, enter_project_to_work());
  task.typed_in = place.typed_in;
  task.words.assign(arguments.positionals().begin(), arguments.positionals().end());
  task.project = task.words.empty() ? place.folder : place.typed_in;  // a command runs where it was typed
  if (!task.words.empty() && (arguments.has("agent") || arguments.has("model")))
    return fail(ErrorKind::kUsage, "give --agent or a COMMAND after --, not both");
  Overrides overrides;
  TRY(set_limits(arguments, overrides));
  TRY(set_agent(arguments, place.typed_in, overrides));
  TRY(set_model(arguments, overrides));
  TRY_VALUE(task.loaded, load_settings(place.folder, overrides));
  Policy& policy = task.policy;
  policy = policy_from(task.loaded.settings);
  policy.task = true;
  policy.check_commands.clear();  // it runs none: DONE is all that counts
  policy.retry_attempts = 1;      // an attempt that fails is restarted as the next one
  TRY_VALUE(policy.restart_delay, duration_from(arguments, "restart-delay", policy.restart_delay));
  TRY_VALUE(policy.child_wait, duration_from(arguments, "child-wait", policy.child_wait));
  TRY_VALUE(policy.done_grace, duration_from(arguments, "done-grace", policy.done_grace));
  TRY_VALUE(policy.file_poll, duration_from(arguments, "poll", policy.file_poll));
  if (policy.file_poll.count() == 0) return fail(ErrorKind::kUsage, "--poll: it must be longer than 0");
  TRY_VALUE(policy.agent_idle_limit, duration_from(arguments, "idle-timeout", policy.agent_idle_limit));
  TRY_VALUE(policy.agent_time_limit, duration_from(arguments, "run-timeout", policy.agent_time_limit));
  if (const auto text = arguments.value("max-restarts")) {
    const auto count = parse_count(*text);
    if (!count || *count > 1'000'000)
      return fail(ErrorKind::kUsage, "--max-restarts: \"{}\" is not a whole number from 1 to 1000000", *text);
    task.restarts = static_cast<int>(*count);
  }
  policy.max_iterations = task.restarts;
  task.verbose = arguments.has("verbose");
  task.json = arguments.has("json");
  task.arguments.assign(arguments.words().begin(), arguments.words().end());
  return task;
}

bool is_held_by_the_dead(const TaskPlace& place) {
  const auto owner = supervisor_of(place);
  return owner && owner->pid > 0 && start_time_of(owner->pid) == 0;
}

Result<Lock> take_lock(const TaskPlace& place) {
  auto lock = Lock::acquire(place.lock());
  // A supervisor whose guardian was killed still ends its agent: that takes a moment only.
  for (Milliseconds waited{0};
       !lock && lock.error().kind == ErrorKind::kBusy && is_held_by_the_dead(place) && waited < kPatienceWithTheDying;
       waited += kLockPoll) {
    std::this_thread::sleep_for(kLockPoll);
    lock = Lock::acquire(place.lock());
  }
  if (lock || lock.error().kind != ErrorKind::kBusy) return lock;
  const auto owner = supervisor_of(place);
  return fail(ErrorKind::kBusy, "task {}/{} has a supervisor already: pid {}, since {}; 'ralph task stop' ends it",
              place.project, place.task, owner ? owner->pid : 0, owner ? owner->since : "?");
}

// An earlier request to stop, or to wait, is answered by starting again.
Status clear_requests(const TaskPlace& place) {
  for (const std::string& path : {place.stop_request(), place.wait_marker()}) {
    if (!is_there(path)) continue;
    if (::unlink(path.c_str()) != 0)
      return fail(ErrorKind::kInput, "cannot remove {}: {}; remove it yourself", path, errno_text(errno));
  }
  return {};
}

Status note_beginning(Run& run, const Task& task, const std::vector<Agent>& agents) {
  if (!run.is_resumed()) {
    record::RunStarted started;
    started.run_id = run.id;
    started.way = WayIn::kTask;
    started.ralph_version = RALPH_VERSION;
    started.project = run.project;
    started.agent = names_of(agents);
    started.prompt_source = task.request.prompt ? "the command line" : task.request.place.instructions();
    started.prompt = task.request.prompt.value_or("");
    started.pid = guardian_pid();
    started.max_iterations = run.policy.max_iterations;
    started.settings = task.loaded.effective;
    started.folder = task.typed_in;
    started.arguments = task.arguments;
    return run.note(std::move(started));
  }
  const SweepReport swept = end_processes_with("RALPH_RUN_ID=" + run.id, stop_abandoned());
  const WallTime last = last_sign_of_life(run);
  record::RunResumed resumed;
  resumed.run_id = run.id;
  resumed.ralph_version = RALPH_VERSION;
  resumed.agent = names_of(agents);
  resumed.arguments = task.arguments;
  resumed.pid = guardian_pid();
  resumed.max_iterations = run.policy.max_iterations;
  resumed.spent_ms = (run.progress().run_time + (last - run.progress().last_record)).count();
  resumed.settings = task.loaded.effective;
  TRY(run.note(std::move(resumed)));
  if (!swept.ended.empty() || !swept.survivors.empty()) TRY(run.note(swept_after(StepKind::kAgent, swept)));
  return close_killed_attempt(run, agents, task.loaded.settings.stream_agent_output, last);
}

Result<std::string> own_path() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0) return fail(ErrorKind::kIo, "cannot find ralph's own program");
  return std::string(path, static_cast<size_t>(n));
}

// Runs in the guarded process.
Result<int> supervise(Task& task, const TrustTicket* ticket, int guardian) {
  const TaskPlace& place = task.request.place;
  const SystemClock clock;
  std::unique_ptr<RunListener> watcher;  // goes last: a reader who sleeps must not keep the lock
  LinuxProcesses processes(clock, guardian);
  Environment environment = Environment::of_this_process();
  TRY_VALUE(Lock lock, take_lock(place));
  TRY(clear_requests(place));
  std::string id = run_id_of(place);
  if (id.empty()) id = new_run_id(clock.wall());
  TRY(lock.name_owner(supervisor_line({id, to_iso8601(clock.wall()), guardian_pid(), ::getpid()})));
  const std::string parent = environment.get("RALPH_ATTEMPT_ID").value_or("");
  environment.set("RALPH_RUN_ID", id);
  environment.unset("RALPH_TRUST");  // a person's word, not an agent's
  if (ticket) TRY(ticket->begin());
  const Redactor redactor(environment.as_lines(), secret_candidates(task.loaded.settings));
  const RunSetup setup{task.loaded, task.project, task.verbose, task.json, task.policy, 0, task.arguments};
  watcher = make_watcher(setup, place.folder(), environment);
  for (Outlet* outlet : watcher->outlets()) processes.serve(*outlet);
  TRY_VALUE(Run run, Run::open({id, place.folder()}, task.policy,
                               {processes, clock, redactor, *watcher, task.project, environment}));
  TRY(correct_dead_attempts(place, true));
  const Progress& before = run.progress();
  const bool taken_again = before.iteration_open && !before.turn_is_over();
  run.policy.max_iterations = task.restarts + before.iteration - (taken_again ? 1 : 0);
  TRY_VALUE(const std::vector<Agent> agents,
            task_agents(task.words, task.loaded.settings, run.environment, task.project));
  TRY(note_beginning(run, task, agents));
  TRY_VALUE(const std::string program, own_path());
  TRY_VALUE(const std::string socket, job_socket_path(place, environment));
  TRY_VALUE(const auto children, Children::open(place, id, program, socket, processes, guardian, clock, redactor));
  std::vector<std::pair<std::string, std::string>> variables = {{"RALPH_JOB_SOCKET", socket}};
  for (const auto& [name, value] : task_variables(place)) variables.emplace_back(name, value);
  TaskWay way(run, task.request, agents, task.loaded.settings.stream_agent_output, children.get(), std::move(variables),
              parent);
  TRY_VALUE(const Decision decision, drive(run, way));
  const bool said = !task.json && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
  if (decision.status == StopStatus::kFatal && !said) return fail(ErrorKind::kInput, "{}", decision.reason);
  return exit_code_of(decision.status);
}

Result<int> print_plan(const Task& task) {
  TRY_VALUE(const auto agents,
            task_agents(task.words, task.loaded.settings, Environment::of_this_process(), task.project));
  TRY_VALUE(const std::string prompt, instructions_of(task.request));
  DryRun dry{task.loaded, task.project, agents, prompt, "the task", {}};
  dry.iterations = fmt::format("up to {}, {} apart, complete when {} is there", count_of(task.restarts, "attempt"),
                               human_duration(task.policy.restart_delay), task.request.place.done());
  return print_dry_run(dry, task.json);
}

Result<int> run(const Arguments& arguments) {
  TRY_VALUE(Task task, task_from_arguments(arguments));
  const TaskPlace& place = task.request.place;
  TRY(task_agents(task.words, task.loaded.settings, Environment::of_this_process(), task.project));
  if (arguments.has("dry-run")) return print_plan(task);
  // All that can be refused is refused before anything is written.
  const std::string& sandbox = task.loaded.settings.sandbox.mode;
  if (sandbox == "on")
    return fail(
        ErrorKind::kInput,
        "sandbox.mode is \"on\", but a supervised task can't be shut in; use 'ralph run', or set it to \"auto\"");
  if (sandbox == "auto")
    fmt::print(stderr, "ralph: a supervised task runs without a sandbox (sandbox.mode is \"auto\")\n");
  const bool is_new = !is_there(place.folder());
  if (task.request.prompt || !task.request.prompt_file.empty() || !is_new) TRY(instructions_of(task.request));
  if (is_new && !task.request.prompt && task.request.prompt_file.empty() && !task.request.is_command)
    return fail(ErrorKind::kUsage, "what is the task? Give --prompt or --prompt-file, or write {}",
                place.instructions());
  const std::vector<std::string> depends = arguments.values("depends-on");
  for (const std::string& name : depends) {
    if (name == place.task) return fail(ErrorKind::kUsage, "--depends-on {}: a task can't wait for itself", name);
    TRY(existing_task(place.root, place.project, name));
  }
  // A command that a person types is theirs; an agent is the project's.
  std::optional<TrustTicket> ticket;
  if (task.words.empty()) {
    TRY_VALUE(ticket, accept_project({task.loaded, task.project, arguments.has("trust"), task.json}));
  }
  TRY(make_task_folder(place));
  if (!depends.empty()) TRY(set_dependencies(place, depends));
  task.request.depends = dependencies_of(place);
  if (task.request.prompt && !is_there(place.instructions()))
    TRY(write_file_atomically(place.instructions(), *task.request.prompt + "\n"));
  TRY(remember_root(Environment::of_this_process(), place.root));
  TRY_VALUE(const int code, run_guarded([&](int guardian) {
              const Result<int> ended = supervise(task, ticket ? &*ticket : nullptr, guardian);
              return ended ? *ended : report(ended.error());
            }));
  if (ticket) ticket->end();
  return code;
}

}  // namespace

const Command kTaskRun = {
    "task run",
    "Supervise a task: restart its agent until it creates the file DONE.",
    R"(The agent is started in the current project and restarted whenever it ends, whatever its exit code, until the file
DONE is in the task's folder ($TASK_FOLDER), the attempts are used up, or it says that it waits for a person: by exit
code 42, by a message of type wait_without_restart on its bus, or by the file WAIT_WITHOUT_RESTART. DONE is seen at once.
Everything that an attempt started ends with it, except child runs (`ralph job`), for which DONE waits.

Exit codes: 0 DONE, 1 the attempts are used up or another limit, 2 settings, usage or a fatal start error,
3 the agent waits for a person, 130 interrupted or stopped.)",
    R"(ralph task run --root tasks --project shop --task cart --prompt 'Make the cart keep its items'
ralph task run --root tasks --project shop --task cart --agent codex --max-restarts 10 --restart-delay 5s
ralph task run --root tasks --project shop --task deploy --depends-on cart -- ./deploy.sh)",
    kOptions,
    kPositionals,
    run,
};

}  // namespace ralph::cli
