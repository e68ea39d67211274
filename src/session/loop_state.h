// A loop inside a host's session, as people and programs are shown it: a view of its run's records. Specified in
// docs/formats/loop.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/progress.h"
#include "session/loop_request.h"

namespace ralph {

enum class LoopStatus { kActive, kPromiseAccepted, kMaxIterationsReached, kCancelled };
template <>
inline constexpr auto kWords<LoopStatus> = words({"ACTIVE", "PROMISE_ACCEPTED", "MAX_ITERATIONS_REACHED", "CANCELLED"});
LoopStatus loop_status_of(StopStatus status);

struct LoopDecision {
  std::string time;
  std::int64_t iteration = 0;
  std::string decision, rule, reason;
  bool operator==(const LoopDecision&) const = default;
  template <class V>
  void fields(V&& v) {
    v("time", time), v("iteration", iteration), v("decision", decision), v("rule", rule), v("reason", reason);
  }
};

struct LoopState {
  std::string run;  // its id; empty: a loop of version 0.1
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

  template <class V>
  void fields(V&& v) {
    v("run", run), v("status", status), v("iteration", iteration), v("session", session);
    request.fields(v);
    v("started", started), v("updated", updated), v("transcript", transcript), v("transcriptStart", transcript_start);
    v("transcriptRead", transcript_read), v("transcriptCalls", transcript_calls), v("recentCalls", recent_calls);
    v("refusedLate", refused_late), v("tree", tree), v("reason", reason), v("decisions", decisions);
  }
};

LoopState loop_state_of(const LoopRequest& request, const Progress& progress);
json::object to_json(const LoopState& state);

}  // namespace ralph
