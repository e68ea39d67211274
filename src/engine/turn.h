// One turn of an agent: started with a prompt, listened to, and judged by how it ended.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agents/agent.h"
#include "engine/step.h"

namespace ralph {

// A sandbox, a clean checkout: a function from one Launch to another. Empty: it stays as it is.
using LaunchChange = std::function<Launch(Launch)>;

struct TurnRequest {
  std::string prompt;
  Purpose purpose = Purpose::kWork;  // what an agent says for another one is shown to nobody and completes nothing
  int attempt = 1;
  bool events = true;  // ask for a stream of events where the agent has one
  std::optional<Progress::Session> resume{};
  std::string told{};     // in earlier turns of its session: repeating that is no answer, as with the prompt
  LaunchChange change{};  // to how the agent is started
};

struct TurnEnd {
  TurnOutcome outcome = TurnOutcome::kNone;
  std::optional<std::string> response;
  std::string answer;  // the beginning of what it said, for a commit message
  std::string reason;  // why, if the outcome is not ok
};

// Writes prompt_<iteration>.txt and agent_<iteration>.out/.err into the run's folder (with _<attempt> from the second
// attempt on; commit_message_… for that purpose). Errors as run_step().
Result<TurnEnd> run_turn(Run& run, const Agent& agent, const TurnRequest& request);

}  // namespace ralph
