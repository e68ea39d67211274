// The checks of a session's loop (--check 'make test'). They run in a process of their own with a guardian, so that
// they outlive the Stop hook that began them: a host ends a hook that takes too long, and with it the session's loop.
// What they found is noted beside the session's note, outside the project.
//
// They end with the session's host, when the loop ends, and after half an hour.
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
  std::optional<diagnostics::Criteria> criteria;  // besides: over what the project's tools say
  std::vector<std::string> paths;                 // that these are about
  std::string outset;                             // DiagnoseOrder
  Environment environment;
  // What they are about: the tree, the tool calls until then, and the stop that began them.
  std::string tree, stop;
  std::int64_t calls = 0;
};

class HeldChecks {
 public:
  explicit HeldChecks(std::string session_note) : note_(std::move(session_note)) {}

  struct State {
    int pid = 0;
    unsigned long long start_time = 0;
    std::string folder;  // of their logs, in that of the run
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

  // The checks that were begun and whose result nobody has taken.
  std::optional<State> there() const;

  // Begins them; those that were there are ended first.
  Result<State> start(const CheckOrder& order) const;

  // Waits for their end. False: they still run.
  static bool wait(const State& state, MonotonicTime until);

  // What checks found that have ended: a result for each command, in their order, and what the tools said if there are
  // criteria.
  struct Found {
    std::vector<record::GuardrailEnded> checks{};
    std::optional<Diagnosis> diagnosis{};
  };
  // A check that was cut off has failed.
  Found found(const State& state) const;

  // Removes their result, under the loop's lock: of two hooks that waited for it, one may use it. False: it is gone.
  bool take(const State& state) const;

  // Ends them, and forgets their result.
  void end() const;

 private:
  std::string state_path() const { return note_ + ".checks"; }
  std::string result_path() const { return note_ + ".checks.result"; }

  std::string note_;
};

}  // namespace ralph
