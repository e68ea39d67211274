#include "engine/attempts.h"

#include "engine/limits.h"
#include "engine/turn.h"

namespace ralph {
namespace {

// What a session that was cut off is told when it is resumed: it has the task in its history.
constexpr std::string_view kGoOn = "You were interrupted. Go on with the task where you left off.";

}  // namespace

const Agent& agent_to_start(const RunContext& context, Agents agents) {
  return agents[agent_to_ask(context.policy, context.log.progress(), context.clock.wall())];
}

Result<Decision> take_turn(RunContext& context, Agents agents, const std::string& prompt, bool events,
                           const std::optional<Progress::Session>& resume, const std::string& told) {
  for (int attempt = 1;; ++attempt) {
    const Agent& agent = agent_to_start(context, agents);
    TurnRequest request{prompt, "work", attempt, events, resume, told};
    if (const auto& session = context.log.progress().session; session && session->agent == agent.name()) {
      request.resume = session;
      request.told += "\n" + prompt;
      request.prompt = kGoOn;
    }
    TRY(run_turn(context, agent, request));
    TRY_VALUE(const Decision decision, ask(context, {Moment::kAfterTurn}));
    if (decision.action != Action::kRetry && decision.action != Action::kWait) return decision;
    TRY(pause(context, decision.delay));
    TRY_VALUE(const Decision after_pause, ask(context, {Moment::kBetweenSteps}));
    if (after_pause.action == Action::kStop) return after_pause;
  }
}

}  // namespace ralph
