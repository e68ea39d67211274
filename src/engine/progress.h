// How far a run has come. Progress is a fold over the journal's records and nothing else, so that a live run, a resumed
// one and a replay are the same thing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/events.h"
#include "journal/records.h"
#include "engine/prompt.h"

namespace ralph {

struct Progress {
  int iteration = 0;  // the one under way, or the last one; 0 before the first

  // The agent's turn in this iteration.
  int attempts = 0;          // how often an agent was started for it
  int failed_attempts = 0;   // of these, how often it crashed or said nothing
  std::string turn_outcome;  // as in record::AgentEnded; empty while none has ended
  std::string turn_reason;   // the same, as a sentence
  std::string turn_agent;    // whose turn it was
  std::optional<std::string> response;
  int failed_turns_in_row = 0;  // crashed or silent, across iterations: what back-off grows with
  int overloads_in_row = 0;

  // The usage limits that agents are at, by agent.
  struct Limit {
    std::optional<WallTime> until{};  // as it was told; nothing: nobody knows
    WallTime met{};                   // when it was met last
    int times = 1;                    // how often in a row
  };
  std::map<std::string, Limit> limited;

  // The session to go on with after a limit or an overload, so that work under way is not begun anew.
  struct Session {
    std::string id, agent;
    Tokens tokens;
    double cost_usd = 0;
  };
  std::optional<Session> session;
  std::optional<Session> last_session;  // of the last turn, for a loop that stays in one
  int tool_calls = 0;                   // of all turns

  // What the run has used.
  Tokens tokens;
  double cost_usd = 0;

  // The guardrails of this iteration.
  int guardrails_passed = 0;
  std::vector<std::string> guardrails_failed;  // their names
  std::vector<Feedback> collecting;            // what they said so far

  // The plan's stories, if the run works on a plan, as ralph left them.
  struct Plan {
    int stories = 0, done = 0;
    std::vector<std::string> open;  // "US-002 (needs_review)"
  };
  Plan plan;

  std::vector<Feedback> feedback;  // what the agent is told next: the failures of the last iteration whose checks ran

  int stop_requests = 0;  // 1: finish the current step; 2 and more: end everything now
};

// The progress after `written`. Records that are of no consequence leave it as it is.
Progress fold(Progress progress, const record::Record& written);

}  // namespace ralph
