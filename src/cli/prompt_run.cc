#include "cli/prompt_run.h"

#include "agents/agent.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/guarded_run.h"
#include "cli/plain_git.h"
#include "cli/roster.h"
#include "loop/engine.h"

namespace ralph::cli {
namespace {

Status check_repository(const PromptRun& run, const Environment& environment) {
  const auto& scm = run.loaded.settings.scm;
  if (!scm || scm->tasks.empty()) return {};
  auto program = resolve_program(scm->command, environment, run.project);
  if (!program) return fail(ErrorKind::kNotFound, "scm.command: {}", program.error().message);
  if (base_name(scm->command) != "git") return {};
  TRY_VALUE(const bool exists, Repository(plain_git(run.project), run.project).exists());
  if (exists) return {};
  return fail(
      ErrorKind::kInput,
      "scm tasks are set ({}), but {} is not a git repository; run 'git init' there, or remove scm from the settings",
      join(scm->tasks, ", "), run.project);
}

// The run itself, in the process that the guardian guards.
Result<Decision> run_loop(const PromptRun& run, RunContext& context, Policy& policy) {
  const Settings& settings = run.loaded.settings;
  TRY_VALUE(const std::vector<Agent> agents, make_agents(settings, context.environment, run.project));
  for (const Agent& agent : agents) policy.agents.push_back(agent.name());
  TRY(note_start(context, {"run", join(policy.agents, ", then "), run.prompt.describe(), run.prompt_text},
                 run.loaded.effective));
  return run_prompt_loop({settings, agents, run.prompt, context});
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
  const GuardedRun guarded{run.loaded,
                           run.project,
                           run.verbose,
                           run.json,
                           policy_from(run.loaded.settings),
                           static_cast<int>(run.loaded.settings.guardrails.size())};
  return execute_guarded(guarded, [&](RunContext& context, Policy& policy) { return run_loop(run, context, policy); });
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
