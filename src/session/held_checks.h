// The checks of a session's loop (--check 'make test'). They run in a separate process with a guardian and outlive the
// Stop hook that started them: a host ends a hook that takes too long, and with it the session's loop. Their results
// are stored next to the session's note, outside the project.
//
// They end with the session's host, when the loop ends, or after half an hour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "journal/records.h"
#include "os/environment.h"
#include "session/diagnose.h"

namespace ralph {

inline constexpr Milliseconds kLongestChecks{30 * 60 * 1000};

struct CheckOrder {
  std::string project, run, folder;  // of the loop: its run's id and folder
  int iteration = 0;
  std::vector<std::string> commands;
  std::optional<diagnostics::Criteria> criteria;  // in addition: for the findings of the project's tools
  std::vector<std::string> paths;                 // that the criteria apply to
  std::string outset;                             // see DiagnoseOrder
  Environment environment;
  // What the checks apply to: the tree, the number of tool calls so far, and the stop that started them.
  std::string tree, stop;
  std::int64_t calls = 0;
};

class HeldChecks {
 public:
  explicit HeldChecks(std::string session_note) : note_(std::move(session_note)) {}

  struct State {
    int pid = 0;
    unsigned long long start_time = 0;
    std::string folder;  // of their logs, in the run's folder
    std::string tree, stop;
    std::int64_t calls = 0;
    std::vector<std::string> commands;
    bool criteria = false;
    template <class V>
    void fields(V&& v) {
      v("pid", pid), v("startTime", start_time), v("folder", folder), v("tree", tree), v("stop", stop);
      v("calls", calls), v("commands", commands), v("criteria", criteria);
    }
    bool is_running() const;
  };

  // The checks that were started and whose result has not been taken yet.
  std::optional<State> pending() const;

  // Starts checks; ends existing ones first.
  Result<State> start(const CheckOrder& order) const;

  // Waits for their end. False if they are still running.
  static bool wait(const State& state, MonotonicTime until);

  // The results of checks that have ended: one for each command, in order, and a diagnosis if there are criteria.
  struct Found {
    std::vector<record::GuardrailEnded> checks{};
    std::optional<Diagnosis> diagnosis{};
  };
  // A check that was cut off counts as failed.
  Found found(const State& state) const;

  // Removes their result. Call it under the loop's lock: if two hooks waited for the result, only one may use it. False
  // if it is already gone.
  bool take(const State& state) const;

  // Ends them and removes their result.
  void end() const;

 private:
  std::string state_path() const { return note_ + ".checks"; }
  std::string result_path() const { return note_ + ".checks.result"; }

  std::string note_;
};

}  // namespace ralph
