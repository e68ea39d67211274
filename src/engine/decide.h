// The heart: whether to go on, stop, wait, try again, or end what runs. Pure: it reads no clock, file or environment.
// Every rule about stopping is a row of one table in decide.cc, in one order; the first that applies decides.
// Run::ask() is the only caller: the ways in differ only in their policy and in what they observe.
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

struct Decision {
  Action action = Action::kContinue;
  StopStatus status = StopStatus::kNone;
  std::string_view rule;             // the name of the row
  std::string reason;                // a sentence for people
  Milliseconds delay{0};             // for kWait and kRetry
  EndCause cause = EndCause::kNone;  // for kEndNow

  bool stops() const { return action == Action::kStop; }
};

Decision decide(const Policy& policy, const Progress& progress, const Observation& observation);

// When time alone can change the decision: how long from now. Nothing: never, so a wait may be endless. It is derived
// from the rows about time.
std::optional<Milliseconds> time_until_change(const Policy& policy, const Progress& progress,
                                              const Observation& observation);

// The names of all rows, in their order.
std::span<const std::string_view> rule_names();

}  // namespace ralph
