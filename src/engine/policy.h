// What a run may do, fixed at its start: the numbers that decide() goes by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "journal/words.h"
#include "settings/settings.h"

namespace ralph {

// What becomes of a promise that was made without any work.
enum class PromiseWithoutWork { kReject, kWarn, kAccept };
template <>
inline constexpr auto kWords<PromiseWithoutWork> = words({"reject", "warn", "accept"});

struct Policy {
  int max_iterations = 10;
  std::string completion_response = "DONE";
  // It is said as a promise in its exact form, <promise>COMPLETE</promise>, and not as a <response>.
  bool promise = false;
  bool plan = false;  // the work is a plan: complete when its stories are, whatever the agent says
  // For a loop inside a host's session, which is asked when the host wants to stop.
  int min_tool_calls = 1;
  int max_objections = 8;  // how often in a row an agent is sent back to a plan that it leaves out of order
  PromiseWithoutWork on_promise_no_work = PromiseWithoutWork::kReject;
  int retry_attempts = 3;            // of a crashed or silent agent, within its iteration
  Milliseconds retry_backoff{2000};  // before the first retry, doubled for each failure in a row
  Milliseconds retry_max_backoff{60000};
  Milliseconds agent_time_limit{0};  // 0: none
  Milliseconds agent_idle_limit{0};  // 0: none
  Milliseconds run_time_limit{0};    // 0: none
  double max_cost_usd = 0;           // 0: no limit
  std::int64_t max_tokens = 0;       // 0: no limit
  Milliseconds linger_limit{30000};  // how long an agent may stay after its result

  // Agents by name, the preferred one first; the others go on while it is limited.
  std::vector<std::string> agents;
  Milliseconds max_limit_wait{24 * 3600 * 1000};   // the longest wait for a usage limit to end
  Milliseconds unknown_limit_wait{5 * 60 * 1000};  // when nobody says how long it lasts; doubled for each in a row
  int overload_retries = 8;
  Milliseconds overload_backoff{5000};  // doubled for each in a row, with jitter
  Milliseconds overload_max_backoff{5 * 60 * 1000};
};

Policy policy_from(const Settings& settings);

}  // namespace ralph
