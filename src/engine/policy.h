// The rules of a run, fixed at its start: the parameters of decide().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/words.h"
#include "settings/settings.h"

namespace ralph {

// How to treat a promise made without any work.
enum class PromiseWithoutWork { kReject, kWarn, kAccept };
template <>
inline constexpr auto kWords<PromiseWithoutWork> = words({"reject", "warn", "accept"});

struct Policy {
  int max_iterations = 10;
  std::string completion_response = "DONE";
  // The completion response must be given as exactly <promise>COMPLETE</promise>, not as a <response>.
  bool promise = false;
  bool plan = false;  // the work is a plan: complete when its stories are done, whatever the agent says
  // For a loop inside a host's session, which is decided on when the session wants to stop.
  int checks = 0;             // how many must pass before the loop is complete
  bool needs_promise = true;  // false: complete as soon as the checks pass
  int min_tool_calls = 1;
  int stagnation_limit = 0;                      // continuations in a row without a tool call; 0: no limit
  Milliseconds background_wait{10 * 60 * 1000};  // how long stops that wait for background tasks are not counted
  int max_objections = 8;                        // how often in a row an agent is sent back to fix its plan
  PromiseWithoutWork on_promise_no_work = PromiseWithoutWork::kReject;
  int retry_attempts = 4;            // in total per iteration, if the agent crashes or says nothing
  Milliseconds retry_backoff{2000};  // before the first retry, doubled for each failure in a row
  Milliseconds retry_max_backoff{60000};
  Milliseconds agent_time_limit{0};   // 0: none
  Milliseconds agent_idle_limit{0};   // 0: none
  Milliseconds run_time_limit{0};     // 0: none
  double max_cost_usd = 0;            // 0: no limit
  std::int64_t max_tokens = 0;        // 0: no limit
  std::int64_t max_stream_bytes = 0;  // raw agent output that a run keeps; 0: no limit
  Milliseconds linger_limit{30000};   // how long an agent may keep running after its result

  // Files watched during the run: those that these settings protect, and those that these commands name.
  ProtectSettings protect;
  std::vector<std::string> check_commands;
  // Words of the agents' command lines: if an agent changes such a program in the project, it is restored.
  std::vector<std::string> agent_programs;
  std::string scm_command;  // the source control's program; empty: none

  // Criteria over diagnostics; a child run has none.
  DiagnosticsSettings diagnostics{};
  bool has_criteria() const { return diagnostics.criteria && !single; }
  std::vector<std::string> targets{};  // files and folders whose findings count; empty: the whole project

  // For a supervised task. Each attempt is an iteration, so max_iterations limits the restarts.
  Milliseconds restart_delay{1000};
  Milliseconds child_wait{300'000};  // how long a finished task waits for its child runs
  Milliseconds done_grace{30'000};   // how long an agent may keep running after DONE
  Milliseconds file_poll{1000};      // how often files are polled if the system is out of file watches
  bool task = false;                 // the run lives in a task's folder and leaves nothing in the project
  bool single = false;               // a child run: one attempt, whatever its outcome

  // Agent names, preferred one first; the others work while it is limited.
  std::vector<std::string> agents;
  Milliseconds max_limit_wait{24 * 3600 * 1000};   // the longest wait for a usage limit to end
  Milliseconds unknown_limit_wait{5 * 60 * 1000};  // if its end is unknown; doubled for each one in a row
  int overload_retries = 8;
  Milliseconds overload_backoff{5000};  // doubled for each one in a row, with jitter
  Milliseconds overload_max_backoff{5 * 60 * 1000};
};

Policy policy_from(const Settings& settings);
Policy task_policy_from(const Settings& settings);  // of a supervised task

}  // namespace ralph
