// ralph sandbox run: runs one command in the project's sandbox. ralph sandbox plan: describes that sandbox.
#include <array>
#include <fcntl.h>
#include <map>
#include <memory>
#include <signal.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "cli/sandbox_setup.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/processes_linux.h"
#include "os/terminal_relay.h"
#include "os/tty.h"
#include "sandbox/docker_machine.h"
#include "sandbox/egress.h"
#include "sandbox/enclosure.h"
#include "sandbox/places.h"
#include "sandbox/plan_text.h"
#include "sandbox/settle.h"
#include "sandbox/upstream.h"

namespace ralph::cli {
namespace {

constexpr Option kForOption = {.name = "for",
                               .letter = 0,
                               .value = "WHOM",
                               .help = "Whose sandbox: the agent's (default), or that of checks, without secrets.",
                               .choices = "agent|check"};
constexpr std::array kRunOptions = {kForOption};
constexpr std::array kPlanOptions = {kForOption, Option{"json", 0, "", "Print it as JSON."}};
constexpr std::array kPositionals = {Positional{"COMMAND", "The program and its arguments, after --.", true, true}};

struct Prepared {
  Project project;
  SandboxRequest request;
  SandboxPlan plan;
  std::map<std::string, std::string> resolve;
  std::string backend;
};

void complain_about_command(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, printable_lines(fmt::format("ralph: {}\n", text)), "standard error"));
}

// The proxy of one command.
class OwnProxy {
 public:
  Status start(const Prepared& prepared, const Environment& environment) {
    TRY_VALUE(helper_socket_, open_egress_socket());
    const Launch launch =
        proxy_launch({prepared.request.helper, prepared.request.hosts, prepared.resolve, log()}, environment);
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    TRY_VALUE(pid_, spawn_on(launch, {helper_socket_.listener.get(), null.get(), null.get()}));
    return {};
  }
  void end() const {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  const std::string& socket() const { return helper_socket_.socket; }
  void tell_refusals() const {
    if (helper_socket_.folder.empty()) return;
    for (const Refusal& one : read_refusals(log())) complain_about_command(describe(one));
  }
  ~OwnProxy() {
    if (helper_socket_.folder.empty()) return;
    ::unlink(log().c_str());
    helper_socket_.remove();
  }

 private:
  std::string log() const { return join_path(helper_socket_.folder, kEgressLog); }
  HelperSocket helper_socket_;
  int pid_ = 0;
};

Result<Prepared> prepare(const Arguments& arguments, const Environment& environment) {
  Prepared prepared;
  TRY_VALUE(prepared.project, enter_project());
  TRY_VALUE(const LoadedSettings loaded, load_settings(prepared.project.folder));
  const std::vector<Agent> agents = agents_for_sandbox(loaded.settings, environment, prepared.project.folder);
  const bool check = arguments.value("for") == "check";
  TRY_VALUE(prepared.request, sandbox_request({loaded.settings, prepared.project.folder, environment, agents},
                                              check ? SandboxFor::kChecks : SandboxFor::kAgent));
  prepared.resolve = loaded.settings.sandbox.resolve;
  prepared.backend = loaded.settings.sandbox.backend;
  TRY(Allowlist::from(prepared.request.hosts, prepared.resolve));
  TRY(Upstream::from(environment));
  prepared.request.socket = kSocketInside;  // replaced when the proxy has a socket
  TRY_VALUE(prepared.plan, plan_sandbox(prepared.request, this_machine()));
  return prepared;
}

// Waits for the program. A signal that asks this command to end is passed on to everything inside.
int wait_for(LinuxProcesses& processes, const OwnProxy& proxy, TerminalRelay* terminal) {
  int code = 0;
  for (;;) {
    const Event event = processes.next(std::nullopt);
    if (terminal && std::holds_alternative<DescriptorReady>(event)) terminal->move();
    if (std::holds_alternative<SignalArrived>(event)) processes.end(stop_gently());
    if (const auto* exited = std::get_if<Exited>(&event)) {
      code = exited->status.code;
      proxy.end();
    }
    if (std::holds_alternative<Finished>(event)) return code;
  }
}

Result<int> run_in_sandbox(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(Prepared prepared, prepare(arguments, environment));
  TRY(prepare_home(prepared.request));
  TRY_VALUE(Enclosure enclosure, Enclosure::make(prepared.plan.limits, environment, prepared.project.folder));
  Launch launch;
  launch.argv.assign(arguments.positionals().begin(), arguments.positionals().end());
  launch.environment = environment;
  launch.folder = prepared.project.typed_in;
  const SystemClock clock;
  LinuxProcesses processes(clock);
  OwnProxy proxy;
  if (prepared.plan.network == Network::kAllowlist) {
    TRY(proxy.start(prepared, environment));
    prepared.request.socket = proxy.socket();
    TRY_VALUE(prepared.plan, plan_sandbox(prepared.request, this_machine()));
  }
  // For a person at a terminal, Ctrl-C goes to the program inside, and job control works there.
  std::unique_ptr<TerminalRelay> terminal;
  Streams streams{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  if (is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO)) {
    TRY_VALUE(terminal, TerminalRelay::open(STDIN_FILENO, STDOUT_FILENO));
    streams = {terminal->slave(), terminal->slave(), is_terminal(STDERR_FILENO) ? terminal->slave() : STDERR_FILENO};
    processes.watch_descriptor(terminal->descriptor());
    enclosure.bubblewrap.terminal = true;
  }
  TRY_VALUE(const int pid, spawn_on(enclosure.inside(prepared.plan, std::move(launch)), streams));
  enclosure.bubblewrap.terminal = false;
  if (terminal) terminal->close_slave();
  processes.adopt(pid);
  const int code = wait_for(processes, proxy, terminal.get());
  if (terminal) terminal->finish();
  terminal.reset();
  // A failure of bwrap itself looks like a failure of the command.
  if (code == 1) TRY(enclosure.try_out(prepared.plan, environment));
  proxy.tell_refusals();
  TRY_VALUE(const auto taken, take_away_forbidden(prepared.plan, to_iso8601(clock.wall())));
  for (const std::string& line : taken) complain_about_command(line);
  return code;
}

// Chooses as a run would: see cli/protection.
Result<DockerCli> docker_cli_for(const Prepared& prepared, const Environment& environment) {
  if (prepared.backend == "bubblewrap") return fail(ErrorKind::kNotFound, "");
  TRY_VALUE(const MachinePlan machine, plan_machine(prepared.request, {}));
  if (prepared.backend != "docker" && !machine.runs) return fail(ErrorKind::kNotFound, "");
  return find_docker_cli(environment, prepared.project.folder);
}

Result<int> show_plan(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const Prepared prepared, prepare(arguments, environment));
  std::string text;
  const auto cli = docker_cli_for(prepared, environment);
  if (!cli && prepared.backend == "docker") return tl::unexpected(cli.error());
  if (cli) {
    TRY_VALUE(const MachinePlan machine, plan_machine(prepared.request, *cli));
    text = arguments.has("json") ? to_pretty_json(to_json(*cli, machine)) : printable_lines(describe(*cli, machine));
  } else {
    text = arguments.has("json") ? to_pretty_json(to_json(prepared.plan)) : printable_lines(describe(prepared.plan));
  }
  TRY(write_all(STDOUT_FILENO, text, "standard output"));
  return 0;
}

}  // namespace

const Command kSandboxRun = {
    "sandbox run",
    "Run a command in the project's sandbox.",
    R"(Inside, the system is readable and the project is writable, except for files that control ralph, git and agents.
The home folder is a private one, the environment is reduced to a list of variables, and the network is limited to what
sandbox.network allows. Everything that the command starts ends with it. The exit code is the command's.)",
    R"(ralph sandbox run -- make test
       ralph sandbox run -- bash
       ralph sandbox run --for check -- env)",
    kRunOptions,
    kPositionals,
    run_in_sandbox,
};

const Command kSandboxPlan = {
    "sandbox plan",
    "Show what the project's sandbox consists of: files, environment, network, limits.",
    "Starts, creates and copies nothing, except that it runs `docker sandbox ls` to find out whether Docker Sandbox\n"
    "is available, which may then be used if sandbox.backend does not say otherwise. docs/sandbox.md explains the\n"
    "parts.",
    R"(ralph sandbox plan
       ralph sandbox plan --json | jq '.mounts[] | select(.kind == "writable")')",
    kPlanOptions,
    {},
    show_plan,
};

}  // namespace ralph::cli
