// How far a run has come. Progress is a fold over the journal's records and nothing else, so that a live run, a resumed
// one and a replay are the same thing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "journal/records.h"
#include "loop/prompt.h"

namespace ralph {

struct Progress {
  int iteration = 0;  // the one under way, or the last one; 0 before the first

  // The agent's turn in this iteration.
  int attempts = 0;             // how often the agent was started for it
  std::string turn_outcome;     // as in record::AgentEnded; empty while none has ended
  std::optional<std::string> response;
  int failed_turns_in_row = 0;  // crashed or silent, across iterations: what back-off grows with

  // The guardrails of this iteration.
  int guardrails_passed = 0;
  std::vector<std::string> guardrails_failed;  // their names
  std::vector<Feedback> collecting;            // what they said so far

  std::vector<Feedback> feedback;  // what the agent is told next: the failures of the last iteration whose checks ran

  int stop_requests = 0;  // 1: finish the current step; 2 and more: end everything now
};

// The progress after `body` was written. Records that are of no consequence leave it as it is.
Progress fold(Progress progress, const record::Body& body);

}  // namespace ralph
