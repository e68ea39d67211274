// How a turn ended, in one word and one sentence: from its events, its exit and what it said before its stream began.
#pragma once

#include <string>
#include <string_view>

#include "agents/adapter.h"
#include "engine/step.h"
#include "engine/turn_reader.h"

namespace ralph {

struct TurnOutcome {
  std::string name;    // as in record::AgentEnded
  std::string reason;  // empty if it is "ok"
};

struct TurnFacts {
  const StepEnd& end;
  const TurnReader& reader;
  const Adapter& adapter;
  std::string_view agent;       // its name, for the sentence
  std::string_view error_tail;  // the end of its standard error
  bool expects_result = false;  // its stream has an event that says that a turn is over
};

TurnOutcome judge_turn(const TurnFacts& facts);

}  // namespace ralph
