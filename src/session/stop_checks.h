// The checks of a session's loop around a stop. They run in a process that outlives the hook (session/held_checks.h),
// so that a stop may find those that an earlier one has begun.
#pragma once

#include "session/stop.h"

namespace ralph {

// What is known of the loop's checks at this stop.
struct CheckNews {
  Observation::Checks now{};
  bool promise_stands = false;  // the one that began them at an earlier stop
  std::optional<HeldChecks::State> ended{};
  HeldChecks::Found found{};  // by those
};

// The checks of one loop around one stop.
class StopChecks {
 public:
  StopChecks(const LoopStore& store, const StopRequest& stop, const Environment& environment);

  // Those that an earlier stop has begun.
  CheckNews from_before();

  // Begins them, or finds those that another hook has begun on the same files. Under the loop's lock, like use(): two
  // hooks that report one stop begin its checks once.
  Result<HeldChecks::State> begin(CheckOrder order);

  void await(const HeldChecks::State& state, CheckNews& news) const;

  // What the other hook of this stop has used is no news.
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

// Their results become records of the loop. A check that passes with fewer tests than before has lost some.
Status note_results(Run& run, std::vector<record::GuardrailEnded> results);

// What the tools said becomes the last snapshot, and a check of its own. Empty: it has no criteria.
Result<std::vector<diagnostics::Snapshot>> note_diagnosis(SessionRun& loop, const LoopStore& store,
                                                          const std::string& session, const HeldChecks::Found& found);

}  // namespace ralph
