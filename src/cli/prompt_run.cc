#include "cli/prompt_run.h"

#include <unistd.h>

#include "agents/agent.h"
#include "base/text.h"
#include "cli/dry_run.h"
#include "cli/note_start.h"
#include "engine/engine.h"
#include "engine/prompt_way.h"
#include "engine/roster.h"
#include "git/repository.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

PromptSource prompt_of(const PromptRun& run, const Protection& protection) {
  PromptSource prompt = run.prompt;
  if (protection.on) prompt.stay_within({protection.agent.project});
  return prompt;
}

// The run itself, in the guarded process.
Result<Decision> drive_prompt(const PromptRun& prompt, Run& run) {
  const RunSetup& setup = prompt.setup;
  const Settings& settings = setup.loaded.settings;
  TRY_VALUE(const std::vector<Agent> agents, make_agents(settings, run.environment, setup.project));
  TRY(note_start(run, setup, {WayIn::kPrompt, names_of(agents), prompt.prompt.describe(), prompt.prompt_text, agents}));
  const PromptSource source = prompt_of(prompt, setup.protection);
  PromptWay way(run, settings, agents, source);
  return drive(run, way);
}

}  // namespace

Status check_repository(const Settings& settings, const Environment& environment, const std::string& project) {
  const auto& scm = settings.scm;
  if (!scm || scm->tasks.empty()) return {};
  auto program = resolve_program(scm->command, environment, project);
  if (!program) return fail(ErrorKind::kNotFound, "scm.command: {}", program.error().message);
  if (base_name(scm->command) != "git") return {};
  TRY_VALUE(const bool exists, Repository(plain_git(project), project).exists());
  if (exists) return {};
  return fail(
      ErrorKind::kInput,
      "scm tasks are set ({}), but {} is not a git repository; run 'git init' there, or remove scm from the settings",
      join(scm->tasks, ", "), project);
}

Status preflight(const PromptRun& run) {
  const Environment environment = Environment::of_this_process();
  const Settings& settings = run.setup.loaded.settings;
  TRY(make_agents(settings, environment, run.setup.project));
  TRY(run.prompt.read());
  return check_repository(settings, environment, run.setup.project);
}

Result<int> execute(PromptRun& run) {
  RunSetup& setup = run.setup;
  const Environment environment = Environment::of_this_process();
  const Settings& settings = setup.loaded.settings;
  TRY_VALUE(const std::vector<Agent> agents, make_agents(settings, environment, setup.project));
  TRY_VALUE(setup.protection, choose_protection({settings, setup.project, environment, agents}, false));
  if (!setup.protection.why_not.empty())
    static_cast<void>(write_all(STDERR_FILENO, opening_line(setup.protection), "standard error"));
  TRY(prompt_of(run, setup.protection).read());
  setup.policy = policy_from(settings);
  setup.checks = static_cast<int>(settings.guardrails.size());
  if (setup.resume) TRY(check_limits(*setup.resume, setup.policy));
  return start_run(setup, [&](Run& started, RunMeans) { return drive_prompt(run, started); });
}

Result<int> print_dry_run(const PromptRun& run) {
  const RunSetup& setup = run.setup;
  const Settings& settings = setup.loaded.settings;
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const auto agents, make_agents(settings, environment, setup.project));
  TRY_VALUE(const Protection protection, choose_protection({settings, setup.project, environment, agents}, false));
  TRY_VALUE(const std::string prompt, prompt_of(run, protection).read());
  DryRun dry{setup.loaded, protection, setup.project, agents, prompt, run.prompt.describe(), {}};
  if (settings.include_iteration_count_in_prompt)
    dry.prompt = with_iteration_count(dry.prompt, 1, settings.maximum_iterations);
  dry.iterations =
      fmt::format("up to {}, complete when the agent answers <response>{}</response> and all guardrails pass",
                  settings.maximum_iterations, settings.completion_response);
  return print_dry_run(dry, setup.json);
}

}  // namespace ralph::cli
