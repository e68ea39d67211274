// The core of ralph: decides whether to continue, stop, wait, retry, or end the running process. Pure: reads no clock,
// file or environment. Every rule is a row of one ordered table in decide.cc; the first row that applies decides.
// Run::ask() is the only caller: entry points differ only in their policies and observations.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/observation.h"
#include "engine/policy.h"
#include "engine/progress.h"

namespace ralph {

int exit_code_of(StopStatus status);  // 0, 1, 2, 3, 130

// A limit that the user can raise.
enum class Limit { kNone, kIterations, kCost, kTokens, kTime };

struct Decision {
  Action action = Action::kContinue;
  StopStatus status = StopStatus::kNone;
  std::string_view rule;             // the name of the row
  std::string reason;                // a sentence for the user
  Milliseconds delay{0};             // for kWait and kRetry
  EndCause cause = EndCause::kNone;  // for kEndNow
  Limit limit = Limit::kNone;        // for kStop with kLimit

  bool stops() const { return action == Action::kStop; }
};

Decision decide(const Policy& policy, const Progress& progress, const Observation& observation);

// How long until time alone can change the decision. nullopt: never, so a wait needs no timeout. Derived from the
// time-based rows.
std::optional<Milliseconds> time_until_change(const Policy& policy, const Progress& progress,
                                              const Observation& observation);

// The names of all rows, in order.
std::span<const std::string_view> rule_names();

}  // namespace ralph
