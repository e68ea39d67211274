#include "engine/attempts.h"

#include "engine/limits.h"
#include "engine/way.h"

namespace ralph {
namespace {

// The prompt for resuming a session that was cut off: it has the task in its history.
constexpr std::string_view kResumePrompt = "You were interrupted. Go on with the task where you left off.";

LaunchChange change_of(const NextTurn& next) {
  if (next.folder.empty() && next.environment.empty()) return next.change;
  return [&next](Launch launch) {
    if (!next.folder.empty()) launch.folder = next.folder;
    for (const auto& [name, value] : next.environment) launch.environment.set(name, value);
    return next.change ? next.change(std::move(launch)) : launch;
  };
}

}  // namespace

const Agent& agent_to_start(const Run& run, Agents agents) {
  return agents[agent_to_ask(run.policy, run.progress(), run.clock.wall())];
}

Result<Decision> take_turn(Run& run, const NextTurn& next) {
  for (int attempt = 1;; ++attempt) {
    const Agent& agent = agent_to_start(run, next.agents);
    TurnRequest request{next.prompt, Purpose::kWork, attempt, next.events, next.resume, next.told, change_of(next)};
    if (const auto& session = run.progress().session; session && session->agent == agent.name()) {
      request.resume = session;
      request.told += "\n" + next.prompt;
      request.prompt = kResumePrompt;
    }
    TRY(run_turn(run, agent, request));
    TRY_VALUE(const Decision decision, run.ask({Moment::kAfterTurn}));
    if (decision.action != Action::kRetry && decision.action != Action::kWait) return decision;
    TRY(pause(run, decision.delay));
    TRY_VALUE(const Decision after_pause, run.ask({Moment::kBetweenSteps}));
    if (after_pause.stops()) return after_pause;
    if (run.awaited_file_is_there()) return run.ask({Moment::kAfterTurn});
  }
}

}  // namespace ralph
