#include "engine/attempts.h"

#include <array>

#include "engine/limits.h"
#include "engine/prompt.h"
#include "engine/way.h"

namespace ralph {
namespace {

// The prompt for resuming a session that was cut off. The session already has the task in its history.
constexpr std::string_view kResumePrompt = "You were interrupted. Go on with the task where you left off.";

// Added to the prompt of a new session after an attempt that was cut off.
constexpr std::string_view kHalfDone =
    "An earlier attempt at this task was interrupted. Parts of its work may be in the files: look at them before "
    "you go on, keep what is good, and finish what is half done.";

LaunchChange change_of(const NextTurn& next) {
  if (next.folder.empty() && next.environment.empty()) return next.change;
  return [&next](Launch launch) {
    if (!next.folder.empty()) launch.folder = next.folder;
    for (const auto& [name, value] : next.environment) launch.environment.set(name, value);
    return next.change ? next.change(std::move(launch)) : launch;
  };
}

Result<TurnEnd> attempt_turn(Run& run, const NextTurn& next) {
  const Progress& progress = run.progress();
  const Agent& agent = agent_to_start(run, next.agents);
  TurnRequest request{next.prompt,          Purpose::kWork,  progress.attempts + 1, next.events,  next.resume,
                      next.earlier_prompts, change_of(next), next.keep_words,       next.recorder};
  if (progress.session && progress.session->agent == agent.name()) {
    request.resume = progress.session;
    request.earlier_prompts += "\n" + next.prompt;
    request.prompt = kResumePrompt;
  } else if (progress.half_done) {
    request.prompt = join_prompt_parts(std::array{request.prompt, std::string(kHalfDone)});
  }
  return run_turn(run, agent, request);
}

}  // namespace

const Agent& agent_to_start(const Run& run, Agents agents) {
  return agents[agent_to_ask(run.policy, run.progress(), run.clock.wall())];
}

Result<Decision> take_turn(Run& run, const NextTurn& next) {
  // A resumed iteration may already have the result of its turn. Then only the decision is missing.
  bool over = run.progress().turn_is_over();
  for (;; over = false) {
    if (!over) TRY(attempt_turn(run, next));
    TRY_VALUE(const Decision decision, run.ask({Moment::kAfterTurn}));
    if (decision.action != Action::kRetry && decision.action != Action::kWait) return decision;
    TRY(pause(run, decision.delay, decision.action == Action::kWait ? PauseBy::kTimeOfDay : PauseBy::kTimeSpent));
    TRY_VALUE(const Decision after_pause, run.ask({Moment::kBetweenSteps}));
    if (after_pause.stops()) return after_pause;
    if (run.awaited_file_is_there()) return run.ask({Moment::kAfterTurn});
  }
}

}  // namespace ralph
