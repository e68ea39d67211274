// A loop inside a host's session, as shown to users and programs: a view of its run's records, and how it is read from
// disk. Specified in docs/formats/loop.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/progress.h"
#include "journal/run_folder.h"
#include "session/loop_request.h"

namespace ralph {

// A loop whose session has ended continues when the session is resumed.
enum class LoopStatus {
  kActive,
  kPromiseAccepted,
  kMaxIterationsReached,
  kCancelled,
  kStagnant,
  kSessionEnded,
  kComplete,  // without a promise
};
template <>
inline constexpr auto kWords<LoopStatus> = words(
    {"ACTIVE", "PROMISE_ACCEPTED", "MAX_ITERATIONS_REACHED", "CANCELLED", "STAGNANT", "SESSION_ENDED", "COMPLETE"});
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

// The last result of a check.
struct LoopCheck {
  std::string time, command;
  CheckOutcome outcome = CheckOutcome::kNone;
  std::int64_t exit_code = 0;
  std::string log_file;
  bool operator==(const LoopCheck&) const = default;
  template <class V>
  void fields(V&& v) {
    v("time", time), v("command", command), v("outcome", outcome), v("exitCode", exit_code), v("logFile", log_file);
  }
};

struct LoopState {
  std::string run;  // its run's id; empty: a loop of version 0.1
  LoopRequest request;
  Progress::Host host;  // without a session: the next one that starts in the project adopts the loop
  LoopStatus status = LoopStatus::kActive;
  std::int64_t iteration = 0;                      // how often the session was told to continue
  std::string updated;                             // the time of its last record
  std::string reason;                              // why it ended
  std::vector<LoopDecision> decisions{};           // only where requested: see LoopStore
  std::vector<LoopCheck> results{};                // the same
  bool checking = false;                           // its checks are running; the same
  std::string trend{};                             // of its diagnostics; the same
  std::vector<diagnostics::Snapshot> snapshots{};  // the same

  bool active() const { return status == LoopStatus::kActive || status == LoopStatus::kSessionEnded; }

  template <class V>
  void fields(V&& v) {
    v("run", run), v("status", status), v("iteration", iteration), v("session", host.session);
    request.fields(v);
    v("started", host.since), v("updated", updated), v("transcript", host.transcript);
    v("transcriptStart", host.transcript_start), v("transcriptRead", host.transcript_read);
    v("transcriptCalls", host.transcript_calls), v("recentCalls", host.recent_calls);
    v("refusedLate", host.refused_late), v("tree", host.tree), v("reason", reason), v("decisions", decisions);
    v("results", results), v("checking", checking), v("trend", trend);
  }
};

LoopState loop_state_of(const std::string& run, const LoopRequest& request, const Progress& progress);
json::object to_json(const LoopState& state);

// All that follows reads without a lock.

// The unmasked request, in the run's folder until the loop ends.
inline constexpr std::string_view kRequestFile = "request.json";

// nullopt if there is no such run, or something else is in its place.
std::optional<RunFolder> folder_of_run(const std::string& project, const std::string& id);

// Fails with kNotFound if the loop has ended.
Result<LoopRequest> read_request(const std::string& path);

// The loop's state from its journal; nullopt if the run is not a loop. `tail`: reads only the progress, which the last
// decision contains.
Result<std::optional<LoopState>> read_loop(const RunFolder& folder, bool tail);

}  // namespace ralph
