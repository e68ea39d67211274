// What a run may do, fixed at its start: the numbers that decide() goes by.
#pragma once

#include <string>

#include "base/time.h"
#include "settings/settings.h"

namespace ralph {

struct Policy {
  int max_iterations = 10;
  std::string completion_response = "DONE";
  int retry_attempts = 3;            // of a crashed or silent agent, within its iteration
  Milliseconds retry_backoff{2000};  // before the first retry, doubled for each failure in a row
  Milliseconds retry_max_backoff{60000};
  Milliseconds agent_time_limit{0};  // 0: none
  Milliseconds agent_idle_limit{0};  // 0: none
  Milliseconds run_time_limit{0};    // 0: none
};

Policy policy_from(const Settings& settings);

}  // namespace ralph
