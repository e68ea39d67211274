// One turn of an agent: starts it with a prompt, reads its output, and judges how it ended.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agents/agent.h"
#include "engine/step.h"

namespace ralph {

// Changes how an agent is started: a sandbox, a clean checkout. Empty: no change.
using LaunchChange = std::function<Launch(Launch)>;

// The files of a turn, if a way keeps them in places of its choice.
struct TurnFiles {
  std::string prompt, out, err;  // relative to the run's folder
};
class TurnRecorder : public EventSink {
 public:
  // Called before the agent starts; may change the launch.
  virtual Result<TurnFiles> begin(Launch& launch, const std::string& prompt, const std::string& agent) = 0;
  virtual Status started(int pid) = 0;
  virtual Status ended(const record::AgentEnded& ended) = 0;  // with exit code -1 if it could not be started
};

struct TurnRequest {
  std::string prompt;
  Purpose purpose = Purpose::kWork;  // for other purposes, the output is not shown and completes nothing
  int attempt = 1;
  bool events = true;  // ask for a stream of events if the agent has one
  std::optional<Progress::Session> resume{};
  std::string earlier_prompts{};  // earlier prompts of the session: echoing them, like the prompt, is not an answer
  LaunchChange change{};
  bool keep_words = false;  // record the agent's final message
  TurnRecorder* recorder = nullptr;
};

struct TurnEnd {
  TurnOutcome outcome = TurnOutcome::kNone;
  std::string reason;  // if the outcome is not kOk
};

// Writes prompt_<iteration>.txt and agent_<iteration>.out/.err into the run's folder (with _<attempt> from the second
// attempt on; commit_message_… for that purpose). Errors as in run_step().
Result<TurnEnd> run_turn(Run& run, const Agent& agent, const TurnRequest& request);

}  // namespace ralph
