// What is the case at the moment a decision is asked for. Values only: whoever asks has read the clock. A decision that
// is of consequence is recorded with it, so that it can be made again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/fields.h"

namespace ralph {

struct Observation {
  Moment moment = Moment::kBeforeIteration;

  struct Clock {
    Milliseconds run_time{0};    // spent by the run so far
    Milliseconds step_time{0};   // since the running process was started
    Milliseconds quiet_time{0};  // since it last printed anything
    Milliseconds step_limit{0};  // how long this step may take; 0: no limit
    WallTime now{};              // for limits that end at a time of day
    double random = 0;           // from 0 to 1: jitter is part of the situation, so that deciding stays pure
    bool operator==(const Clock&) const = default;
    template <class V>
    void fields(V&& v) {
      v("runMs", run_time), v("stepMs", step_time), v("quietMs", quiet_time), v("stepLimitMs", step_limit);
      v("now", now), v("random", random);
    }
  };
  Clock clock{};

  // An agent's turn under way.
  struct Turn {
    int tools_running = 0;                       // an agent that waits for a tool is not idle
    std::optional<Milliseconds> since_result{};  // it has given its result, and nothing came after it
    double cost_usd = 0;                         // spent by this turn so far
    std::int64_t tokens = 0;
    bool operator==(const Turn&) const = default;
    template <class V>
    void fields(V&& v) {
      v("toolsRunning", tools_running), v("sinceResultMs", since_result), v("costUsd", cost_usd), v("tokens", tokens);
    }
  };
  Turn turn{};

  struct Checks {
    bool outdated = false;  // the files are not those that passed the checks, or may not be
    bool operator==(const Checks&) const = default;
    template <class V>
    void fields(V&& v) {
      v("outdated", outdated);
    }
  };
  Checks checks{};

  // Evidence of completion.
  struct Signals {
    bool promised = false;         // the promise was said since it was last asked
    std::optional<bool> worked{};  // something was done since the loop began; nothing: nobody can know
    int tool_calls = 0;            // as far as they were counted
    bool file_appeared = false;    // a file that the way in names
    bool operator==(const Signals&) const = default;
    template <class V>
    void fields(V&& v) {
      v("promised", promised), v("worked", worked), v("toolCalls", tool_calls), v("fileAppeared", file_appeared);
    }
  };
  Signals signals{};

  // How far a host's transcript was read for this decision: the next stop goes on from there.
  struct Session {
    std::string transcript;
    std::uint64_t transcript_read = 0;
    std::int64_t transcript_calls = 0;
    std::vector<std::string> recent_calls;
    bool refused_late = false;
    bool operator==(const Session&) const = default;
    template <class V>
    void fields(V&& v) {
      v("transcript", transcript), v("transcriptRead", transcript_read), v("transcriptCalls", transcript_calls);
      v("recentCalls", recent_calls), v("refusedLate", refused_late);
    }
  };
  std::optional<Session> session{};  // only where a host's session wants to end

  struct Plan {
    int problems = 0;    // of the plan that the session works on
    int objections = 0;  // how often in a row it was sent back for them
    bool operator==(const Plan&) const = default;
    template <class V>
    void fields(V&& v) {
      v("problems", problems), v("objections", objections);
    }
  };
  Plan plan{};

  bool operator==(const Observation&) const = default;
  template <class V>
  void fields(V&& v) {
    v("moment", moment), v("clock", clock), v("turn", turn), v("checks", checks), v("signals", signals);
    v("session", session), v("plan", plan);
  }
};

}  // namespace ralph
