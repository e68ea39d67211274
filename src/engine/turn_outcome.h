// Classifies how a turn ended and explains it in a sentence, from its events, exit status and standard error.
#pragma once

#include <string>
#include <string_view>

#include "agents/adapter.h"
#include "engine/step.h"
#include "engine/turn_reader.h"

namespace ralph {

struct TurnJudgement {
  TurnOutcome outcome = TurnOutcome::kNone;
  std::string reason;  // empty if kOk
};

struct TurnFacts {
  const StepEnd& end;
  const TurnReader& reader;
  const Adapter& adapter;
  std::string_view agent;       // its name, for the sentence
  std::string_view error_tail;  // the end of its standard error
  bool expects_result = false;  // its stream marks the end of a turn with an event
  bool works = true;            // it was supposed to change something
};

TurnJudgement judge_turn(const TurnFacts& facts);

}  // namespace ralph
