// A loop inside a host's session, as shown to users and programs: a view of its run's records. Specified in
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
  std::string run;  // its run's id; empty: a loop of version 0.1
  LoopRequest request;
  std::string session;  // empty: unbound; the next session that starts in the project adopts it
  LoopStatus status = LoopStatus::kActive;
  std::int64_t iteration = 0;  // how often the session was told to go on
  std::string started, updated;
  std::string transcript;                 // its path, if known
  std::uint64_t transcript_start = 0;     // its size when the loop began; earlier content is ignored
  std::uint64_t transcript_read = 0;      // how far it was read
  std::int64_t transcript_calls = 0;      // tool calls found in it
  std::vector<std::string> recent_calls;  // their latest ids, so that none counts twice
  bool refused_late = false;              // a refused promise is yet to appear in the transcript
  std::string tree;                       // fingerprint of the work tree when the loop began; empty: unknown
  std::string reason;                     // why it ended
  std::vector<LoopDecision> decisions;    // only where requested: see LoopStore

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
