// The checks of a session's loop around a stop. They run in a process that outlives the hook (session/held_checks.h),
// so a stop may find checks that an earlier one started.
#pragma once

#include "session/stop.h"

namespace ralph {

// What is known about the loop's checks at this stop.
struct CheckNews {
  Observation::Checks now{};
  bool promise_stands = false;  // the promise that started them at an earlier stop still counts
  std::optional<HeldChecks::State> ended{};
  HeldChecks::Found found{};  // the results of `ended`
};

// The checks of one loop around one stop.
class StopChecks {
 public:
  StopChecks(const LoopStore& store, const StopRequest& stop, const Environment& environment);

  // The checks that an earlier stop started.
  CheckNews from_earlier_stop();

  // Starts the checks, or finds those that another hook started on the same files. Call it and use() under the loop's
  // lock: two hooks that report the same stop start its checks only once.
  Result<HeldChecks::State> begin(CheckOrder order);

  void await(const HeldChecks::State& state, CheckNews& news) const;

  // Takes the results. Clears `news` if another hook has already used them.
  void use(CheckNews& news) const;

 private:
  bool is_about_these_files(const HeldChecks::State& state) const;

  const LoopStore& store_;
  const StopRequest& stop_;
  const Environment& environment_;
  const SystemClock clock_{};
  const HeldChecks held_;
  const MonotonicTime until_;
};

// Records the results in the loop's journal. A check that passes with fewer tests than before has lost some.
Status note_results(Run& run, std::vector<record::GuardrailEnded> results);

// Records the diagnosis as the last snapshot and as a separate check. Returns all snapshots; empty if the loop has no
// criteria.
Result<std::vector<diagnostics::Snapshot>> note_diagnosis(SessionRun& loop, const LoopStore& store,
                                                          const std::string& session, const HeldChecks::Found& found);

}  // namespace ralph
