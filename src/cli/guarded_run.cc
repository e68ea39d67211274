#include "cli/guarded_run.h"

#include <memory>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output_options.h"
#include "journal/run_folder.h"
#include "journal/writer.h"
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

Result<Lock> lock_project(const GuardedRun& run) {
  auto lock = Lock::acquire(join_path(run.project, ".ralph/lock"));
  if (lock || lock.error().kind != ErrorKind::kBusy) return lock;
  const auto owner = parse_json(lock.error().message, "lock");
  if (!owner) return fail(ErrorKind::kBusy, "another ralph run is working in {}; wait for it to end", run.project);
  return fail(ErrorKind::kBusy,
              "another ralph run is working in {}: run {}, pid {}, since {}; wait for it, or end it with: kill {}",
              run.project, find_string(*owner, "runId").value_or("?"), find_integer(*owner, "pid").value_or(0),
              find_string(*owner, "startTime").value_or("?"), find_integer(*owner, "pid").value_or(0));
}

std::unique_ptr<RunWatcher> make_watcher(const GuardedRun& run, const Environment& environment) {
  if (run.json) return std::make_unique<JsonLines>();
  ConsoleOptions options;
  const OutputSettings& output = run.loaded.settings.output;
  options.style = with_output_settings(style_for(STDOUT_FILENO, environment), output);
  options.format = format_options(output, options.style);
  options.agent_output = run.loaded.settings.stream_agent_output;
  options.verbose = run.verbose;
  options.guardrails = run.checks;
  return std::make_unique<Console>(std::move(options));
}

// In the process that the guardian guards.
Result<int> run_in_project(const GuardedRun& run, const RunBody& body, int guardian) {
  const SystemClock clock;
  Environment environment = Environment::of_this_process();
  LinuxProcesses processes(clock, guardian);
  TRY_VALUE(Lock lock, lock_project(run));
  TRY_VALUE(const RunFolder folder, create_run_folder(run.project, new_run_id(clock.wall())));
  TRY(lock.name_owner(owner_line(folder.id, clock)));
  environment.set("RALPH_RUN_ID", folder.id);

  const Redactor redactor(environment.as_lines(), secret_candidates(run.loaded.settings));
  Policy policy = run.policy;
  const auto watcher = make_watcher(run, environment);
  TRY_VALUE(JournalWriter writer, JournalWriter::open(folder.path, redactor, [&] { return clock.wall(); }));
  RunLog log(std::move(writer), *watcher);
  RunContext context{policy,   processes,         clock,       redactor,  log,         *watcher,
                     *watcher, clock.monotonic(), run.project, folder.id, folder.path, environment};
  TRY_VALUE(const Decision decision, body(context, policy));
  if (decision.status == StopStatus::kFatal) return fail(ErrorKind::kInput, "{}", decision.reason);
  return exit_code_of(decision.status);
}

}  // namespace

std::map<std::string, std::string> secret_candidates(const Settings& settings) {
  std::map<std::string, std::string> variables = settings.agent.env;
  for (const auto& [name, agent] : settings.agents) {
    // Two agents may have the same variable with two values: both count.
    for (const auto& [variable, value] : agent.env) variables[fmt::format("{}_{}", name, variable)] = value;
  }
  return variables;
}

Status note_start(RunContext& context, const RunTitle& title, const json::value& settings) {
  record::RunStarted started;
  started.run_id = context.run_id;
  started.way = title.way;
  started.ralph_version = RALPH_VERSION;
  started.project = context.project;
  started.agent = title.agent;
  started.prompt_source = title.prompt_source;
  started.prompt = title.prompt;
  started.pid = ::getppid();
  started.max_iterations = context.policy.max_iterations;
  started.settings = settings;
  return context.log.note(std::move(started));
}

int execute_guarded(const GuardedRun& run, const RunBody& body) {
  if (auto ready = prepare_ralph_folder(run.project); !ready) return report(ready.error());
  return run_guarded([&](int guardian) {
    const Result<int> code = run_in_project(run, body, guardian);
    return code ? *code : report(code.error());
  });
}

}  // namespace ralph::cli
