// A loop inside a host's session: what it was started with, how far it has come, and everything that was decided. One
// JSON file per session, specified in docs/formats/loop.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "engine/decide.h"

namespace ralph {

enum class LoopStatus { kActive, kPromiseAccepted, kMaxIterationsReached, kCancelled };
std::string_view to_string(LoopStatus status);  // ACTIVE, PROMISE_ACCEPTED, MAX_ITERATIONS_REACHED, CANCELLED

// What a loop is started with.
struct LoopRequest {
  std::string task;
  std::string promise = "DONE";
  int max_iterations = 50;
  int min_tool_calls = 1;
  PromiseWithoutWork on_promise_no_work = PromiseWithoutWork::kReject;
  bool ultrawork = false;
};

struct LoopDecision {
  std::string time;
  std::int64_t iteration = 0;
  std::string decision, rule, reason;
};

struct LoopState {
  LoopRequest request;
  std::string session;  // empty: unbound; the next session that starts in the project adopts it
  LoopStatus status = LoopStatus::kActive;
  std::int64_t iteration = 0;  // how often the session was sent on
  std::string started, updated;
  std::string transcript;                 // its path, as far as it is known
  std::uint64_t transcript_start = 0;     // its size when the loop began: what is before is not the loop's
  std::uint64_t transcript_read = 0;      // how far it was read
  std::int64_t transcript_calls = 0;      // tool calls that were read there
  std::vector<std::string> recent_calls;  // the last of their ids, so that none counts twice
  bool refused_late = false;              // a refused promise was not in the transcript yet: there it is to come
  std::string tree;                       // of the work tree when it began; empty: not known
  std::string reason;                     // why it ended
  std::vector<LoopDecision> decisions;    // where they are asked for: see LoopStore

  bool active() const { return status == LoopStatus::kActive; }
};

void mark_cancelled(LoopState& state);  // by the user

json::object to_json(const LoopState& state);

// A line of its log (session/loop_log.h): a decision, and all that changes while a loop goes on.
json::object record_of(const LoopState& state, const LoopDecision& decision);
void apply_record(LoopState& state, const json::value& record);
LoopDecision loop_decision_from(const json::value& record);
Result<LoopState> loop_state_from(std::string_view text, std::string_view where);

Policy policy_of(const LoopRequest& request);

std::string_view to_string(PromiseWithoutWork policy);  // reject, warn, accept

}  // namespace ralph
