#include "cli/prompt_run.h"

#include "agents/agent.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/dry_run.h"
#include "cli/guarded_run.h"
#include "git/plain_git.h"
#include "engine/roster.h"
#include "engine/engine.h"

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
  const Settings& settings = run.loaded.settings;
  const auto agents = make_agents(settings, Environment::of_this_process(), run.project);
  const auto prompt = run.prompt.read();
  if (!agents) return report(agents.error());
  if (!prompt) return report(prompt.error());
  DryRun dry{run.loaded, run.project, *agents, *prompt, run.prompt.describe(), {}};
  if (settings.include_iteration_count_in_prompt)
    dry.prompt = with_iteration_count(dry.prompt, 1, settings.maximum_iterations);
  dry.iterations =
      fmt::format("up to {}, complete when the agent answers <response>{}</response> and all guardrails pass",
                  settings.maximum_iterations, settings.completion_response);
  return print_dry_run(dry, run.json);
}

}  // namespace ralph::cli
