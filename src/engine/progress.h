// How far a run has come. Progress is a fold over the journal's records and nothing else, so that a live run, a resumed
// one and a replay are the same thing. What the console sums up, what `ralph runs` shows and what a session loop knows
// of itself are views of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/events.h"
#include "engine/prompt.h"
#include "journal/records.h"

namespace ralph {

struct Progress {
  int iteration = 0;           // the one under way, or the last one; 0 before the first
  Milliseconds run_time{0};    // that the run has spent, as far as its records tell
  WallTime last_record{};      // its time
  std::string outcome_note{};  // why the run ended; empty while it has not
  StopStatus status = StopStatus::kNone;

  // The agent's turn in this iteration.
  int attempts = 0;         // how often an agent was started for it
  int failed_attempts = 0;  // of these, how often it crashed or said nothing
  TurnOutcome turn_outcome = TurnOutcome::kNone;
  std::string turn_reason;  // why, as a sentence
  std::string turn_agent;   // whose turn it was
  std::optional<std::string> response;
  int failed_turns_in_row = 0;  // crashed or silent, across iterations: what back-off grows with
  int overloads_in_row = 0;
  std::string last_rule;  // the row that decided last

  // The usage limits that agents are at, by agent.
  struct Limit {
    std::optional<WallTime> until{};  // as it was told; nothing: nobody knows
    WallTime met{};                   // when it was met last
    int times = 1;                    // how often in a row
    bool operator==(const Limit&) const = default;
    template <class V>
    void fields(V&& v) {
      v("until", until), v("met", met), v("times", times);
    }
  };
  std::map<std::string, Limit> limited;

  // The session to go on with after a limit or an overload, so that work under way is not begun anew.
  struct Session {
    std::string id, agent;
    Tokens tokens;
    double cost_usd = 0;
    bool operator==(const Session&) const = default;
    template <class V>
    void fields(V&& v) {
      v("id", id), v("agent", agent), v("inputTokens", tokens.input), v("outputTokens", tokens.output);
      v("cacheReadTokens", tokens.cache_read), v("cacheWriteTokens", tokens.cache_write), v("costUsd", cost_usd);
    }
  };
  std::optional<Session> session;
  std::optional<Session> last_session;  // of the last turn, for a loop that stays in one
  int tool_calls = 0;                   // of all turns

  // What the run has used.
  Tokens tokens;
  double cost_usd = 0;

  // The guardrails of this iteration.
  int guardrails_passed = 0;
  std::vector<std::string> guardrails_failed;  // their names
  std::vector<Feedback> collecting;            // what they said so far

  // The plan's stories, if the run works on a plan, as ralph left them.
  struct Plan {
    int stories = 0, done = 0;
    std::vector<std::string> open;  // "US-002 (needs_review)"
    std::optional<record::PendingReview> pending;
    std::string head;
    std::map<std::string, std::string> bases;
    bool operator==(const Plan&) const = default;
    template <class V>
    void fields(V&& v) {
      v("stories", stories), v("done", done), v("open", open), v("pending", pending), v("head", head);
      v("bases", bases);
    }
  };
  Plan plan;

  std::vector<Feedback> feedback;  // what the agent is told next: the failures of the last iteration whose checks ran

  int stop_requests = 0;  // 1: finish the current step; 2 and more: end everything now

  // The host's session that a session loop lives in.
  struct Host {
    std::string session;                    // its id; empty: none has adopted the loop yet
    std::string transcript;                 // its path, as far as it is known
    std::uint64_t transcript_start = 0;     // its size when the loop began: what is before is not the loop's
    std::uint64_t transcript_read = 0;      // how far it was read
    std::int64_t transcript_calls = 0;      // tool calls that were read there
    std::vector<std::string> recent_calls;  // the last of their ids, so that none counts twice
    bool refused_late = false;              // a refused promise was not in the transcript yet: there it is to come
    std::string tree;                       // the work tree when it began; empty: not known
    WallTime since{};                       // when the session was bound
    bool operator==(const Host&) const = default;
    template <class V>
    void fields(V&& v) {
      v("session", session), v("transcript", transcript), v("transcriptStart", transcript_start);
      v("transcriptRead", transcript_read), v("transcriptCalls", transcript_calls), v("recentCalls", recent_calls);
      v("refusedLate", refused_late), v("tree", tree), v("since", since);
    }
  };
  Host host;

  // What the run did, summed up.
  struct Totals {
    int turns = 0, passed = 0, failed = 0, commits = 0, scm_failures = 0, swept = 0, violations = 0;
    Milliseconds agent_time{0};
    bool operator==(const Totals&) const = default;
    template <class V>
    void fields(V&& v) {
      v("turns", turns), v("passed", passed), v("failed", failed), v("commits", commits);
      v("scmFailures", scm_failures), v("swept", swept), v("violations", violations), v("agentMs", agent_time);
    }
  };
  Totals totals;

  bool operator==(const Progress&) const = default;
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("runMs", run_time), v("lastRecord", last_record), v("why", outcome_note);
    v("status", status), v("attempts", attempts), v("failedAttempts", failed_attempts), v("turnOutcome", turn_outcome);
    v("turnReason", turn_reason), v("turnAgent", turn_agent), v("response", response);
    v("failedTurnsInRow", failed_turns_in_row), v("overloadsInRow", overloads_in_row), v("lastRule", last_rule);
    v("limited", limited), v("session", session), v("lastSession", last_session), v("toolCalls", tool_calls);
    v("inputTokens", tokens.input), v("outputTokens", tokens.output), v("cacheReadTokens", tokens.cache_read);
    v("cacheWriteTokens", tokens.cache_write), v("costUsd", cost_usd), v("guardrailsPassed", guardrails_passed);
    v("guardrailsFailed", guardrails_failed), v("collecting", collecting), v("plan", plan), v("feedback", feedback);
    v("stopRequests", stop_requests), v("host", host), v("totals", totals);
  }
};

// The progress after `written`. Records that are of no consequence leave it as it is.
Progress fold(Progress progress, const record::Record& written);

}  // namespace ralph
