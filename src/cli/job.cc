// ralph job: runs a child run of the enclosing task. ralph job-child: the process that the supervisor starts for it.
#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "cli/agent_options.h"
#include "cli/file_tail.h"
#include "cli/note_start.h"
#include "cli/registry.h"
#include "cli/task_agents.h"
#include "engine/engine.h"
#include "engine/roster.h"
#include "os/clock.h"
#include "os/file_watch.h"
#include "os/poll.h"
#include "os/processes_linux.h"
#include "os/unix_socket.h"
#include "task/job_protocol.h"
#include "task/task_way.h"
#include "version.h"

namespace ralph::cli {
namespace {

constexpr Milliseconds kJobPatience{60'000};  // how long a supervisor may take to start a job

constexpr std::array kOptions = {
    Option{"prompt", 'p', "TEXT", "What to do."},
    Option{"prompt-file", 'f', "FILE", "A file that says what to do."},
    kAgentOption,
    Option{"detach", 'd', "", "Print the id of the child run and do not wait for it."},
    Option{"quiet", 'q', "", "Do not print its output."},
};
constexpr std::array kPositionals = {Positional{
    "COMMAND", "A command to run instead of an agent, after --; the prompt is its last argument.", false, true}};

Result<ChildRequest> job_request(const Arguments& arguments, const Environment& environment) {
  ChildRequest request;
  request.parent = environment.get("RALPH_ATTEMPT_ID").value_or("");
  if (request.parent.empty() || !environment.get("RALPH_JOB_SOCKET"))
    return fail(ErrorKind::kUsage,
                "this is not inside a supervised task: 'ralph job' is for the agents of one "
                "('ralph task run')");
  request.words.assign(arguments.positionals().begin(), arguments.positionals().end());
  request.agent = arguments.value("agent").value_or("");
  const auto prompt = arguments.value("prompt"), file = arguments.value("prompt-file");
  if (prompt && file) return fail(ErrorKind::kUsage, "give --prompt or --prompt-file, not both");
  if (prompt) request.prompt = *prompt;
  if (file) {
    TRY_VALUE(request.prompt, read_file(std::string(*file)));
  }
  if (request.words.empty() && trim(request.prompt).empty())
    return fail(ErrorKind::kUsage, "what is the job? Give a COMMAND after --, or --prompt for an agent");
  if (!request.words.empty() && !request.agent.empty())
    return fail(ErrorKind::kUsage, "give --agent or a COMMAND after --, not both");
  TRY_VALUE(request.folder, current_directory());
  request.environment = environment.as_lines();
  return request;
}

tl::unexpected<Error> supervisor_gone(const std::string& why) {
  return fail(ErrorKind::kNotFound, "the supervisor of this task does not answer ({}); the state of the job is unknown",
              why);
}

// Prints its output while it runs, and returns its exit code.
Result<int> follow(int socket, const ChildStarted& started, bool quiet) {
  FileTail out(join_path(started.folder, "agent-stdout.txt"), STDOUT_FILENO);
  FileTail err(join_path(started.folder, "agent-stderr.txt"), STDERR_FILENO);
  FileWatch watch;
  const bool watched = !quiet && watch.add(out.path(), FileWatch::Growth::kWatched) &&
                       watch.add(err.path(), FileWatch::Growth::kWatched);
  for (;;) {
    pollfd fds[] = {{socket, POLLIN, 0}, {watched ? watch.descriptor() : -1, POLLIN, 0}};
    if (poll_or_look(fds, -1) != 0 && !wait_readable(socket, {})) fds[0].revents = 0;
    if (fds[1].revents != 0) watch.take_changes();
    if (!quiet) {
      TRY(out.print_new());
      TRY(err.print_new());
    }
    if (fds[0].revents == 0) continue;
    const auto packet = receive_packet(socket);
    if (!packet) return supervisor_gone("it has ended");
    TRY_VALUE(const ChildEnded ended, decode_ended(packet->bytes));
    if (!ended.error.empty()) return fail(ErrorKind::kUsage, "{}", ended.error);
    return *ended.exit_code;
  }
}

Result<int> job(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const ChildRequest request, job_request(arguments, environment));
  const auto socket = connect_to(*environment.get("RALPH_JOB_SOCKET"), SocketKind::kPackets);
  if (!socket) return supervisor_gone(socket.error().message);
  TRY(send_request(socket->get(), request));
  const SystemClock clock;
  if (!wait_readable(socket->get(), clock.monotonic() + kJobPatience)) return supervisor_gone("it is silent");
  const auto packet = receive_packet(socket->get());
  if (!packet) return supervisor_gone("it has ended");
  TRY_VALUE(const ChildStarted started, decode_started(packet->bytes));
  if (!started.error.empty()) return fail(ErrorKind::kUsage, "{}", started.error);
  if (arguments.has("detach")) {
    fmt::print("{}\n", started.id);
    return 0;
  }
  return follow(socket->get(), started, arguments.has("quiet"));
}

// The child itself, started by the guardian of the task's supervisor. It reads its order from standard input.
constexpr std::array kChildOptions = {
    Option{"folder", 0, "DIR", "The folder of the child run."},
    kAgentOption,
};

// In a sandbox, a child run gets only the agents, and the credentials, that the task has.
Status expect_known(const std::vector<Agent>& agents, const SandboxRequest& sandbox) {
  for (const Agent& agent : agents) {
    const auto known = std::ranges::find(sandbox.agents, agent.name(), &AgentPlace::name);
    if (known != sandbox.agents.end() && is_one_of(agent.program(), known->programs)) continue;
    return fail(ErrorKind::kUsage,
                "{} is not an agent of this task, so it is not in its sandbox; name it in \"agents\" in the settings, "
                "and start the task again",
                agent.name());
  }
  return {};
}

Result<int> run_child(const RunInfo& info, const TaskPlace& place, const Arguments& arguments,
                      const ChildOrder& order) {
  const SystemClock clock;
  LinuxProcesses processes(clock);
  Environment environment;
  for (const std::string& line : order.environment) environment.set_line(line);
  const std::string& prompt = order.prompt;
  Overrides overrides;
  TRY(set_agent(arguments, info.cwd, overrides));
  TRY_VALUE(LoadedSettings loaded, load_settings(order.project.empty() ? info.cwd : order.project, overrides));
  if (arguments.has("agent")) loaded.settings.task.agent.clear();
  const std::vector<std::string> words(arguments.positionals().begin(), arguments.positionals().end());
  TRY_VALUE(const std::vector<Agent> agents, task_agents(words, loaded.settings, environment, info.cwd));
  Protection protection;
  std::unique_ptr<Shelter> shelter;
  if (order.sandbox) {
    if (words.empty()) TRY(expect_known(agents, *order.sandbox));
    protection.on = protection.confined = true;
    protection.agent = *order.sandbox;
    protection.in_machine = !order.machine.empty();
    protection.docker = {order.machine};
    protection.sync = Milliseconds(order.sync_ms);
    TRY_VALUE(shelter, shelter_for_child(protection, Environment::of_this_process()));
  }
  Policy policy = policy_from(loaded.settings);
  policy.retry_attempts = 1;
  policy.max_iterations = 1;
  policy.task = policy.single = true;
  policy.check_commands.clear();
  const Redactor redactor(environment.as_lines(), secret_candidates(loaded.settings));
  NullListener nobody;
  TRY_VALUE(Run run, Run::open({info.run_id, info.folder}, policy,
                               {processes, clock, redactor, nobody, info.cwd, environment, {}, {}, shelter.get()}));
  record::RunStarted started;
  started.run_id = info.run_id;
  started.way = WayIn::kJob;
  started.ralph_version = RALPH_VERSION;
  started.project = info.cwd;
  started.agent = names_of(agents);
  started.pid = ::getpid();
  started.max_iterations = 1;
  started.folder = info.cwd;
  TRY(run.note(std::move(started)));
  TRY(note_shelter(run));
  AttemptFolder attempt(place, info, info.folder, clock, redactor);
  if (trim(prompt).empty()) attempt.give_no_prompt();
  ChildWay way(agents, loaded.settings.stream_agent_output, prompt, attempt);
  TRY(drive(run, way));
  return attempt.info().exit_code >= 0 ? attempt.info().exit_code : 2;
}

Result<int> child(const Arguments& arguments) {
  const std::string folder(arguments.value("folder").value_or(""));
  TRY_VALUE(const RunInfo info, read_run_info(folder));
  const std::string runs = parent_path(folder), task = parent_path(runs), project = parent_path(task);
  TRY_VALUE(const TaskPlace place, existing_task(parent_path(project), base_name(project), base_name(task)));
  TRY_VALUE(const std::string text, read_file("/dev/stdin"));
  TRY_VALUE(const ChildOrder order, decode_child_order(text));
  const auto code = run_child(info, place, arguments, order);
  if (code) return code;
  // Nobody reads the standard error of a child, so the reason why it could not be started is written to its file.
  const auto now = read_run_info(folder);
  if (now) TRY(correct_dead_attempt(*now, AttemptStatus::kFailed, code.error().message, 2));
  return 2;
}

}  // namespace

const Command kJob = {
    "job",
    "Run a command or another agent as a child run of the current task.",
    R"(For the agents of a supervised task. The supervisor starts the child run, so it outlives the attempt that asked
for it; after DONE, the supervisor waits for it. Its output is printed here, and this command exits with its exit code.
Its files are in runs/<id>/, next to those of the attempts. A task can have at most 64 child runs at once, nested at
most 8 deep.

Exit codes: that of the child run; 2 if it is refused, or if this is not inside a supervised task.)",
    R"(ralph job -- make test
ralph job --agent codex --prompt 'Review the diff of the last commit'
ralph job --detach -- ./long-check.sh)",
    kOptions,
    kPositionals,
    job,
};

const Command kJobChild = {
    "job-child", "A child run, started by the supervisor of a task.", "", "", kChildOptions, kPositionals, child, true,
};

}  // namespace ralph::cli
