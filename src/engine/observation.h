// What is the case at the moment a decision is asked for. Values only: whoever asks has read the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace ralph {

enum class Moment {
  kBeforeIteration,  // nothing runs; may another iteration begin?
  kDuringTurn,       // the agent runs; may it go on?
  kDuringCheck,      // a guardrail or an SCM command runs; may it go on?
  kAfterTurn,        // the agent has ended; what becomes of its turn?
  kBetweenSteps,     // one step has ended; may the next begin?
  kAtStop,           // a host's session wants to end; may it?
  kAfterChecks,      // guardrails (and SCM tasks) have run; is the work done?
};
std::string_view to_string(Moment moment);

struct Observation {
  Moment moment = Moment::kBeforeIteration;
  Milliseconds run_time{0};    // since the run began
  Milliseconds step_time{0};   // since the running process was started
  Milliseconds quiet_time{0};  // since it last printed anything
  Milliseconds step_limit{0};  // how long this step may take; 0: no limit

  // Of an agent's turn under way.
  int tools_running = 0;                       // an agent that waits for a tool is not idle
  std::optional<Milliseconds> since_result{};  // it has given its result, and nothing came after it
  double turn_cost_usd = 0;                    // spent by this turn so far
  std::int64_t turn_tokens = 0;

  // Between steps.
  bool changed_since_checks = false;  // the files are not those that passed the guardrails, or may not be

  // Of a host's session that wants to end.
  int plan_problems = 0;         // of the plan that it works on
  int objections = 0;            // how often in a row it was sent back for them
  bool promised = false;         // it has said the promise since it was last asked
  std::optional<bool> worked{};  // it has done something since the loop began; nothing: nobody can know
  int tool_calls = 0;            // as far as they were counted

  WallTime now{};     // for limits that end at a time of day
  double random = 0;  // from 0 to 1: jitter is part of the situation, so that deciding stays pure
};

}  // namespace ralph
