// The heart: whether to go on, stop, wait, try again, or end what runs. Pure: it reads no clock, file or environment.
// Every rule about stopping is a row of one table in decide.cc, in one order; the first that applies decides. Whoever
// runs a loop asks here between its steps and while they run, and differs only in its policy and in what it observes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/observation.h"
#include "engine/policy.h"
#include "engine/progress.h"

namespace ralph {

enum class Action {
  kContinue,    // go on: with the next step, or with the feedback that progress holds
  kStop,        // with a status and a reason
  kWait,        // until a time, then ask again
  kRetry,       // run the agent again in the same iteration, after a pause
  kEndNow,      // end the process that runs
  kCheckAgain,  // run the guardrails once more: what they said does not hold any more
};
std::string_view to_string(Action action);

enum class StopStatus { kNone, kComplete, kLimit, kFatal, kWaiting, kInterrupted };
std::string_view to_string(StopStatus status);
int exit_code_of(StopStatus status);  // 0, 1, 2, 3, 130

struct Decision {
  Action action = Action::kContinue;
  StopStatus status = StopStatus::kNone;
  std::string_view rule;       // the name of the row
  std::string reason;          // a sentence for people
  Milliseconds delay{0};       // for kWait and kRetry
  std::string_view outcome{};  // for kEndNow: what the ended step's record says (timed_out, idle, ...)
};

Decision decide(const Policy& policy, const Progress& progress, const Observation& observation);

// When time alone can change the decision: how long from now. Nothing: never, so a wait may be endless.
std::optional<Milliseconds> time_until_change(const Policy& policy, const Observation& observation);

// The names of all rows, in their order.
std::span<const std::string_view> rule_names();

}  // namespace ralph
