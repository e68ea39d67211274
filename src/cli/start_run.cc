#include "cli/start_run.h"

#include <memory>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output_options.h"
#include "journal/run_folder.h"
#include "os/clock.h"
#include "os/guardian.h"
#include "os/lock.h"
#include "os/processes_linux.h"
#include "settings/ralph_folder.h"
#include "ui/console.h"
#include "version.h"

namespace ralph::cli {
namespace {

std::string owner_line(const std::string& run_id, const Clock& clock) {
  json::object owner;
  owner["runId"] = run_id;
  owner["pid"] = ::getppid();  // the guardian: the process that the user started and may end
  owner["startTime"] = to_iso8601(clock.wall());
  return to_compact_json(owner) + "\n";
}

Result<Lock> lock_project(const RunSetup& setup) {
  auto lock = Lock::acquire(join_path(setup.project, ".ralph/lock"));
  if (lock || lock.error().kind != ErrorKind::kBusy) return lock;
  const auto owner = parse_json(lock.error().message, "lock");
  if (!owner) return fail(ErrorKind::kBusy, "another ralph run is working in {}; wait for it to end", setup.project);
  return fail(ErrorKind::kBusy,
              "another ralph run is working in {}: run {}, pid {}, since {}; wait for it, or end it with: kill {}",
              setup.project, find_string(*owner, "runId").value_or("?"), find_integer(*owner, "pid").value_or(0),
              find_string(*owner, "startTime").value_or("?"), find_integer(*owner, "pid").value_or(0));
}

std::unique_ptr<RunListener> make_watcher(const RunSetup& setup, const Environment& environment) {
  if (setup.json) return std::make_unique<JsonLines>();
  ConsoleOptions options;
  const OutputSettings& output = setup.loaded.settings.output;
  options.style = with_output_settings(style_for(STDOUT_FILENO, environment), output);
  options.format = format_options(output, options.style);
  options.agent_output = setup.loaded.settings.stream_agent_output;
  options.verbose = setup.verbose;
  options.guardrails = setup.checks;
  return std::make_unique<Console>(std::move(options));
}

// Runs in the guarded process.
Result<int> run_in_project(const RunSetup& setup, const RunBody& body, int guardian) {
  const SystemClock clock;
  LinuxProcesses processes(clock, guardian);
  TRY_VALUE(Lock lock, lock_project(setup));
  TRY_VALUE(const RunFolder folder, create_run_folder(setup.project, new_run_id(clock.wall())));
  TRY(lock.name_owner(owner_line(folder.id, clock)));
  Environment environment = Environment::of_this_process();
  environment.set("RALPH_RUN_ID", folder.id);
  const Redactor redactor(environment.as_lines(), secret_candidates(setup.loaded.settings));
  const auto watcher = make_watcher(setup, environment);
  TRY_VALUE(Run run,
            Run::open(folder, setup.policy, {processes, clock, redactor, *watcher, setup.project, environment}));
  TRY_VALUE(const Decision decision, body(run));
  if (decision.status == StopStatus::kFatal) return fail(ErrorKind::kInput, "{}", decision.reason);
  return exit_code_of(decision.status);
}

}  // namespace

std::map<std::string, std::string> secret_candidates(const Settings& settings) {
  std::map<std::string, std::string> variables = settings.agent.env;
  for (const auto& [name, agent] : settings.agents) {
    // Two agents may give a variable different values: both count.
    for (const auto& [variable, value] : agent.env) variables[fmt::format("{}_{}", name, variable)] = value;
  }
  return variables;
}

Status note_start(Run& run, const RunTitle& title, const json::value& settings) {
  record::RunStarted started;
  started.run_id = run.id;
  started.way = title.way;
  started.ralph_version = RALPH_VERSION;
  started.project = run.project;
  started.agent = title.agent;
  started.prompt_source = title.prompt_source;
  started.prompt = title.prompt;
  started.pid = ::getppid();
  started.max_iterations = run.policy.max_iterations;
  started.settings = settings;
  return run.note(std::move(started));
}

Result<int> start_run(const RunSetup& setup, const RunBody& body) {
  TRY(prepare_ralph_folder(setup.project));
  return run_guarded([&](int guardian) {
    const Result<int> ended = run_in_project(setup, body, guardian);
    return ended ? *ended : report(ended.error());
  });
}

}  // namespace ralph::cli
