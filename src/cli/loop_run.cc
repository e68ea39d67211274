// ralph loop run: runs a loop in one session of an agent, driven from outside, for hosts without hooks.
#include <array>
#include <unistd.h>

#include "cli/agent_options.h"
#include "cli/limits.h"
#include "cli/loop_options.h"
#include "cli/note_start.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "engine/engine.h"
#include "engine/roster.h"
#include "os/files.h"
#include "session/outside_way.h"

namespace ralph::cli {
namespace {

constexpr auto kOptions = joined(
    std::array{
        kAgentOption,
        kModelOption,
        on_resume({"max-iterations", 'n', "N", "At most N turns (default 100)."}),
    },
    kLoopOptions, kCriteriaOptions, kLimitOptions, kSandboxOptions,
    std::array{
        kCheckOption,
        kResumeOption,
        kTrustOption,
        kVerboseOption,
        kRecordsOption,
    });
constexpr std::array kPositionals = {kTaskPositional};

Result<Overrides> loop_overrides(const Arguments& arguments, const std::string& typed_in) {
  Overrides overrides;
  TRY(set_limits(arguments, overrides));
  TRY(set_sandbox(arguments, overrides));
  TRY(set_agent(arguments, typed_in, overrides));
  TRY(set_model(arguments, overrides));
  return overrides;
}

// A single agent, because a fallback could not resume its session.
Result<Agent> agent_of(Settings settings, const Environment& environment, const std::string& project) {
  settings.agent.fallback.clear();
  TRY_VALUE(std::vector<Agent> agents, make_agents(settings, environment, project));
  Agent& agent = agents.front();
  if (&agent.adapter() == &custom_adapter() || !agent.prints_events(settings.stream_agent_output)) {
    return fail(
        ErrorKind::kInput,
        "{} can't be driven in one session: ralph does not know how to resume it, or does not learn its session id; "
        "use 'ralph run', or an agent with sessions, such as claude",
        agent.name());
  }
  return std::move(agent);
}

Result<int> run_session(const Arguments& typed) {
  TRY_VALUE(const Project place, enter_project_for_agents());
  const std::string& project = place.folder;
  TRY_VALUE(const auto resumption, resumption_from(kLoopRun, WayIn::kOutside, typed, project));
  const Arguments& arguments = resumption ? resumption->arguments : typed;
  RunSetup setup = setup_from(typed, project, resumption);
  setup.typed_in = resumption ? resumption->point.start.folder : place.typed_in;
  TRY_VALUE(const LoopRequest request, loop_request_from(arguments, setup.typed_in, project));
  TRY_VALUE(const Overrides overrides, loop_overrides(arguments, setup.typed_in));
  TRY_VALUE(setup.loaded, load_settings(project, overrides));
  const Settings& settings = setup.loaded.settings;
  if (resumption) show_changes(*resumption, setup.loaded);
  const Environment environment = Environment::of_this_process();
  TRY_VALUE(const Agent first, agent_of(settings, environment, project));
  TRY_VALUE(setup.ticket,
            accept_project({setup.loaded, project, typed.has("trust"), setup.json, resumption.has_value()}));
  TRY_VALUE(setup.protection, choose_protection({settings, project, environment, Agents(&first, 1)}, false));
  if (!setup.protection.why_not.empty())
    static_cast<void>(write_all(STDERR_FILENO, opening_line(setup.protection), "standard error"));
  setup.policy = policy_of(request, policy_from(settings));
  if (resumption) TRY(check_limits(resumption->point, setup.policy));
  return start_run(setup, [&](Run& started, RunMeans) -> Result<Decision> {
    TRY_VALUE(const Agent agent, agent_of(settings, started.environment, project));
    TRY(note_start(started, setup,
                   {WayIn::kOutside, agent.name(), "the command line", request.task, Agents(&agent, 1)}));
    OutsideWay way(started, agent, request, settings.stream_agent_output);
    return drive(started, way);
  });
}

}  // namespace

const Command kLoopRun = {
    "loop run",
    "Run a loop in one session of an agent, from outside: for hosts without hooks.",
    R"(Starts the agent with the task and the contract of `ralph loop start`. Each further turn resumes its session,
until the agent gives its promise or the loop reaches its limit. The --check commands run at each promise, which counts
only if they pass. For --zero-errors and the like, the project's tools run then too, and before the first turn.
Guardrails and diagnostics.criteria from the settings do not apply to these loops; use `ralph run` for that.

Exit codes: 0 the promise was given, 1 stopped by a limit or stagnation, 2 bad settings, bad usage or a fatal error, 130
interrupted.)",
    R"(ralph loop run 'Make the tests pass' --agent codex --max-iterations 20
       ralph loop run 'Make the tests pass' --check 'make test' --check 'make lint'
       ralph loop run 'Fix all errors' --zero-errors --tests-pass --no-promise)",
    kOptions,
    kPositionals,
    run_session,
};

}  // namespace ralph::cli
