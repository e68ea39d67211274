// The facts at the moment of a decision. Values only: the caller has read the clock. Recorded with every decision that
// matters, so that the decision can be replayed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/words.h"
#include "json/fields.h"

namespace ralph {

struct Observation {
  Moment moment = Moment::kBeforeIteration;

  struct Clock {
    Milliseconds run_time{0};    // spent by the run so far
    Milliseconds step_time{0};   // since the running process started
    Milliseconds quiet_time{0};  // since its last output
    Milliseconds step_limit{0};  // how long this step may take; 0: no limit
    WallTime now{};              // for limits that end at a time of day
    double random = 0;           // from 0 to 1, for jitter; part of the observation to keep decide() pure
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
    std::optional<Milliseconds> since_result{};  // since its result, if no event has followed
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
    bool outdated = false;  // the files differ, or may differ, from those that passed the checks
    // At a session's stop. The results are in Progress.
    bool ran = false;        // on the current files
    bool running = false;    // they have not ended yet
    bool restarted = false;  // files changed while the checks of an earlier stop were running
    bool operator==(const Checks&) const = default;
    template <class V>
    void fields(V&& v) {
      v("outdated", outdated), v("ran", ran), v("running", running), v("restarted", restarted);
    }
  };
  Checks checks{};

  // Evidence of completion.
  struct Signals {
    bool promised = false;         // the agent made the promise since the last decision
    std::optional<bool> worked{};  // work was done since the loop began; nullopt: unknown
    int tool_calls = 0;            // as far as counted
    bool mentioned = false;        // the agent only mentioned the promise
    int idle = 0;                  // continuations in a row without a tool call so far
    std::string said{};            // the agent's last words, if `idle` is not 0
    bool cancelled = false;        // the user cancelled the loop, which has not been acted on yet
    int background = 0;            // background tasks that no stop has waited for yet
    bool file_appeared = false;    // one of Way::files()
    bool operator==(const Signals&) const = default;
    template <class V>
    void fields(V&& v) {
      v("promised", promised), v("mentioned", mentioned), v("worked", worked), v("toolCalls", tool_calls);
      v("idle", idle), v("said", said), v("cancelled", cancelled), v("background", background);
      v("fileAppeared", file_appeared);
    }
  };
  Signals signals{};

  // How far a host's transcript was read for this decision; the next stop continues there.
  struct Session {
    std::string transcript;
    std::uint64_t transcript_read = 0;
    std::int64_t transcript_calls = 0;
    std::vector<std::string> recent_calls;
    bool refused_late = false;
    std::string prompt_id, last_message;  // identify the stop, see Progress::Host
    std::int64_t prompts = 0;
    std::vector<std::string> background;  // ids of the background tasks
    bool operator==(const Session&) const = default;
    template <class V>
    void fields(V&& v) {
      v("transcript", transcript), v("transcriptRead", transcript_read), v("transcriptCalls", transcript_calls);
      v("recentCalls", recent_calls), v("refusedLate", refused_late), v("promptId", prompt_id);
      v("lastMessage", last_message), v("prompts", prompts), v("background", background);
    }
  };
  std::optional<Session> session{};  // only if a host's session wants to stop

  struct Plan {
    int problems = 0;    // in the session's plan
    int objections = 0;  // how often in a row the agent was sent back to fix them
    bool operator==(const Plan&) const = default;
    template <class V>
    void fields(V&& v) {
      v("problems", problems), v("objections", objections);
    }
  };
  Plan plan{};

  // The folder of a supervised task, and its child runs.
  struct Task {
    bool done = false;                             // the file DONE exists, and the task's checks passed
    bool unproved = false;                         // DONE existed, but they failed: it was removed
    std::string unusable{};                        // why DONE can't be judged; empty: it can
    bool stop_asked = false;                       // the file STOP-REQUESTED exists
    std::string waits{};                           // how the agent said that it awaits a person; empty: it did not
    int children = 0;                              // running child runs
    std::vector<std::string> open{};               // unfinished tasks that this one depends on
    std::optional<Milliseconds> since_done{};      // since DONE was first seen
    std::optional<Milliseconds> since_attempt{};   // since the last attempt ended
    std::optional<Milliseconds> since_awaiting{};  // since it began to wait only for child runs
    bool operator==(const Task&) const = default;
    // Whether only time has passed between the two observations.
    bool same_signs(const Task& other) const {
      return done == other.done && unusable == other.unusable && stop_asked == other.stop_asked &&
             waits == other.waits && children == other.children && open == other.open;
    }
    template <class V>
    void fields(V&& v) {
      v("done", done), v("unproved", unproved), v("unusable", unusable), v("stopAsked", stop_asked), v("waits", waits),
          v("children", children);
      v("open", open), v("sinceDoneMs", since_done), v("sinceAttemptMs", since_attempt);
      v("sinceAwaitingMs", since_awaiting);
    }
  };
  std::optional<Task> task{};  // only for a supervised task

  // The diagnostics at a session's stop. In a loop with criteria they are one of the checks; without a loop they alone
  // decide whether the session continues.
  struct Diagnostics {
    bool automatic = false;    // there is no loop
    int issues = 0;            // that keep the session from stopping
    std::string summary{};     // in words
    std::string stagnation{};  // why there is no progress; empty: there is progress
    bool marked = false;       // the agent declared itself done, which overrides them
    bool operator==(const Diagnostics&) const = default;
    template <class V>
    void fields(V&& v) {
      v("automatic", automatic), v("issues", issues), v("summary", summary), v("stagnation", stagnation);
      v("marked", marked);
    }
  };
  std::optional<Diagnostics> diagnostics{};

  std::string journal{};  // how the journal was tampered with; empty: it was not

  bool operator==(const Observation&) const = default;
  template <class V>
  void fields(V&& v) {
    v("moment", moment), v("clock", clock), v("turn", turn), v("checks", checks), v("signals", signals);
    v("session", session), v("plan", plan), v("task", task), v("diagnostics", diagnostics), v("journal", journal);
  }
};

}  // namespace ralph
