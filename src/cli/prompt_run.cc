#include "cli/prompt_run.h"

#include <memory>
#include <unistd.h>

#include "agents/agent.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output_options.h"
#include "cli/roster.h"
#include "journal/run_folder.h"
#include "journal/writer.h"
#include "loop/engine.h"
#include "os/clock.h"
#include "os/guardian.h"
#include "os/lock.h"
#include "os/processes_linux.h"
#include "os/run_command.h"
#include "settings/ralph_folder.h"
#include "ui/console.h"
#include "version.h"

namespace ralph::cli {
namespace {

Status check_repository(const PromptRun& run, const Environment& environment) {
  const auto& scm = run.loaded.settings.scm;
  if (!scm || scm->tasks.empty()) return {};
  auto program = resolve_program(scm->command, environment, run.project);
  if (!program) return fail(ErrorKind::kNotFound, "scm.command: {}", program.error().message);
  if (base_name(scm->command) != "git") return {};
  Launch launch;
  launch.argv = {scm->command, "rev-parse", "--is-inside-work-tree"};
  launch.environment = environment;
  launch.folder = run.project;
  TRY_VALUE(const CommandResult result, run_command(launch));
  if (result.exit_code == 0) return {};
  return fail(
      ErrorKind::kInput,
      "scm tasks are set ({}), but {} is not a git repository; run 'git init' there, or remove scm from the settings",
      join(scm->tasks, ", "), run.project);
}

// Variables of all agents: any of their values may turn up in anybody's output.
std::map<std::string, std::string> secret_candidates(const Settings& settings) {
  std::map<std::string, std::string> variables = settings.agent.env;
  for (const auto& [name, agent] : settings.agents) {
    // Two agents may have the same variable with two values: both count.
    for (const auto& [variable, value] : agent.env) variables[fmt::format("{}_{}", name, variable)] = value;
  }
  return variables;
}

std::string owner_line(const std::string& run_id, const Clock& clock) {
  json::object owner;
  owner["runId"] = run_id;
  owner["pid"] = ::getppid();  // the guardian: the process that the user started and may end
  owner["startTime"] = to_iso8601(clock.wall());
  return json::serialize(owner) + "\n";
}

Result<Lock> lock_project(const PromptRun& run) {
  auto lock = Lock::acquire(join_path(run.project, ".ralph/lock"));
  if (lock || lock.error().kind != ErrorKind::kBusy) return lock;
  const auto owner = parse_json(lock.error().message, "lock");
  if (!owner) return fail(ErrorKind::kBusy, "another ralph run is working in {}; wait for it to end", run.project);
  return fail(ErrorKind::kBusy,
              "another ralph run is working in {}: run {}, pid {}, since {}; wait for it, or end it with: kill {}",
              run.project, find_string(*owner, "runId").value_or("?"), find_integer(*owner, "pid").value_or(0),
              find_string(*owner, "startTime").value_or("?"), find_integer(*owner, "pid").value_or(0));
}

std::unique_ptr<RunWatcher> make_watcher(const PromptRun& run, const Environment& environment) {
  if (run.json) return std::make_unique<JsonLines>();
  ConsoleOptions options;
  const OutputSettings& output = run.loaded.settings.output;
  options.style = with_output_settings(style_for(STDOUT_FILENO, environment), output);
  options.format = format_options(output, options.style);
  options.agent_output = run.loaded.settings.stream_agent_output;
  options.verbose = run.verbose;
  options.guardrails = static_cast<int>(run.loaded.settings.guardrails.size());
  return std::make_unique<Console>(std::move(options));
}

// The run itself, in the process that the guardian guards.
Result<int> run_loop(const PromptRun& run, int guardian) {
  const SystemClock clock;
  Environment environment = Environment::of_this_process();
  LinuxProcesses processes(clock, guardian);
  TRY_VALUE(Lock lock, lock_project(run));
  TRY_VALUE(const RunFolder folder, create_run_folder(run.project, new_run_id(clock.wall())));
  const std::string& run_id = folder.id;
  TRY(lock.name_owner(owner_line(run_id, clock)));
  environment.set("RALPH_RUN_ID", run_id);

  const Settings& settings = run.loaded.settings;
  TRY_VALUE(const std::vector<Agent> agents, make_agents(settings, environment, run.project));
  const Redactor redactor(environment.as_lines(), secret_candidates(settings));
  Policy policy = policy_from(settings);
  for (const Agent& agent : agents) policy.agents.push_back(agent.name());
  const auto watcher = make_watcher(run, environment);
  TRY_VALUE(JournalWriter writer, JournalWriter::open(folder.path, redactor, [&] { return clock.wall(); }));
  RunLog log(std::move(writer), *watcher);
  RunContext context{policy,   processes,         clock,       redactor, log,         *watcher,
                     *watcher, clock.monotonic(), run.project, run_id,   folder.path, environment};

  record::RunStarted started;
  started.run_id = run_id;
  started.way = "run";
  started.ralph_version = RALPH_VERSION;
  started.project = run.project;
  started.agent = join(policy.agents, ", then ");
  started.prompt_source = run.prompt.describe();
  started.prompt = run.prompt_text;
  started.pid = ::getppid();
  started.max_iterations = policy.max_iterations;
  started.settings = run.loaded.effective;
  TRY(log.note(std::move(started)));
  TRY_VALUE(const Decision decision, run_prompt_loop({settings, agents, run.prompt, context}));
  if (decision.status == StopStatus::kFatal) return fail(ErrorKind::kInput, "{}", decision.reason);
  return exit_code_of(decision.status);
}

std::string describe_limit(double seconds) {
  return seconds > 0 ? human_duration(Milliseconds(static_cast<long long>(seconds * 1000))) : "none";
}

}  // namespace

Status preflight(const PromptRun& run) {
  const Environment environment = Environment::of_this_process();
  TRY(make_agents(run.loaded.settings, environment, run.project));
  TRY(run.prompt.read());
  return check_repository(run, environment);
}

int execute(const PromptRun& run) {
  if (auto ready = prepare_ralph_folder(run.project); !ready) return report(ready.error());
  return run_guarded([&](int guardian) {
    const Result<int> code = run_loop(run, guardian);
    return code ? *code : report(code.error());
  });
}

int print_dry_run(const PromptRun& run) {
  const Environment environment = Environment::of_this_process();
  const Settings& settings = run.loaded.settings;
  const auto agents = make_agents(settings, environment, run.project);
  const auto prompt = run.prompt.read();
  if (!agents) return report(agents.error());
  if (!prompt) return report(prompt.error());
  const Agent* agent = &agents->front();
  std::string text = *prompt;
  if (settings.include_iteration_count_in_prompt) text = with_iteration_count(text, 1, settings.maximum_iterations);
  const Redactor redactor(environment.as_lines(), secret_candidates(settings));
  TurnWishes wishes;
  wishes.events = settings.stream_agent_output;
  if (settings.budget.max_cost_usd > 0) wishes.max_cost_usd = settings.budget.max_cost_usd;
  Launch launch = agent->launch(text, wishes, {});
  const bool by_argument = launch.input.empty();
  if (by_argument) launch.argv.back() = "<prompt>";

  if (run.json) {
    json::object object;
    object["agent"] = agent->name();
    object["argv"] = json::array(launch.argv.begin(), launch.argv.end());
    object["promptVia"] = by_argument ? "argument" : "stdin";
    object["prompt"] = to_json_string(redactor.redact(text));
    object["settings"] = run.loaded.effective;
    fmt::print("{}", redactor.redact(to_pretty_json(object)));
    return 0;
  }
  std::string out = "Dry run: nothing is started.\n\n";
  out += fmt::format("Agent        {} ({})\n", agent->name(), agent->program());
  out += fmt::format("Command      {}\n", redactor.redact(quote_shell_words(launch.argv)));
  out += fmt::format("Folder       {}\n", run.project);
  out += fmt::format(
      "Iterations   up to {}, complete when the agent answers <response>{}</response> and all guardrails pass\n",
      settings.maximum_iterations, settings.completion_response);
  out += fmt::format("Time limits  agent {}, silence {}, run {}\n", describe_limit(settings.agent.timeout_seconds),
                     describe_limit(settings.agent.idle_timeout_seconds),
                     describe_limit(settings.budget.max_minutes * 60));
  if (settings.budget.max_cost_usd > 0) out += fmt::format("Budget       ${:.2f}\n", settings.budget.max_cost_usd);
  if (settings.budget.max_tokens > 0) out += fmt::format("Budget       {:.0f} tokens\n", settings.budget.max_tokens);
  if (agents->size() > 1) out += fmt::format("Fallback     {}\n", join(settings.agent.fallback, ", "));
  out += fmt::format("Retries      {} within an iteration, after {} and doubling\n", settings.agent.retry.attempts,
                     describe_limit(settings.agent.retry.backoff_seconds));
  for (const GuardrailSettings& guardrail : settings.guardrails) {
    out += fmt::format("Guardrail    {} (on failure: {}, time limit {})\n", guardrail.command,
                       to_string(guardrail.fail_action), describe_limit(guardrail.timeout_seconds));
  }
  if (settings.guardrails.empty()) out += "Guardrails   none: only the agent's answer counts\n";
  if (settings.scm) out += fmt::format("SCM          {}: {}\n", settings.scm->command, join(settings.scm->tasks, ", "));
  out += fmt::format("Prompt       from {}, {} {}:\n\n{}\n", run.prompt.describe(), human_bytes(text.size()),
                     by_argument ? "as an argument" : "on standard input", redactor.redact(text));
  fmt::print("{}", redactor.redact(out));
  return 0;
}

}  // namespace ralph::cli
