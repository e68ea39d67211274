// The state of a run: a fold over the journal's records and nothing else, so a live run, a resumed run and a replay
// agree. The console's summary, `ralph runs` and the state of a session loop are views of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/events.h"
#include "checks/diagnostics/snapshot.h"
#include "checks/test_counts.h"
#include "engine/prompt.h"
#include "engine/rules.h"
#include "journal/records.h"

namespace ralph {

// The name of failed diagnostic criteria among the failed guardrails, and the beginning of their message.
inline constexpr std::string_view kDiagnostics = "diagnostics", kDiagnosticsTitle = "# Diagnostics";

struct Progress {
  int iteration = 0;                // the current or last one; 0 before the first
  bool iteration_open = false;      // it has begun but not ended
  Milliseconds iteration_began{0};  // in run_time
  Milliseconds run_time{0};         // spent so far, according to the records
  WallTime last_record{};           // when it was written
  std::string outcome_note{};       // why the run ended; empty while it is running
  StopStatus status = StopStatus::kNone;

  // An agent that was started and has not ended: still running, or killed together with ralph.
  struct Attempt {
    std::string agent, resumes, stdout_file, stderr_file;
    Purpose purpose = Purpose::kWork;
    std::int64_t number = 0;
    WallTime started{};
    bool operator==(const Attempt&) const = default;
    template <class V>
    void fields(V&& v) {
      v("agent", agent), v("resumes", resumes), v("stdoutFile", stdout_file), v("stderrFile", stderr_file);
      v("purpose", purpose), v("number", number), v("started", started);
    }
  };
  std::optional<Attempt> running;

  // The agent's turn in this iteration.
  int attempts = 0;         // agent starts
  int failed_attempts = 0;  // those that crashed or said nothing
  bool half_done = false;   // an attempt was cut off from outside, and no later attempt did any work
  TurnOutcome turn_outcome = TurnOutcome::kNone;
  std::string turn_reason;  // why, as a sentence
  int turn_exit_code = 0;   // of its process
  std::string turn_agent;   // whose turn it was
  std::optional<std::string> response;
  bool mentioned = false;       // it only mentioned the promise
  std::string said;             // its last words, in a turn without tool calls
  std::string final_words;      // the end of its last message, if requested
  int failed_turns_in_row = 0;  // crashed or silent, across iterations; determines the back-off
  int overloads_in_row = 0;
  std::string last_rule;  // the row of the last decision
  std::string completed;  // why the run is complete, once that is decided

  // The agents' current usage limits, by agent.
  struct Limit {
    std::optional<WallTime> until{};  // as announced; nullopt: unknown
    WallTime met{};                   // when it was last hit
    int times = 1;                    // consecutive hits
    bool operator==(const Limit&) const = default;
    template <class V>
    void fields(V&& v) {
      v("until", until), v("met", met), v("times", times);
    }
  };
  std::map<std::string, Limit> limited;

  // The session to resume after a limit, an overload or an interruption, so that its work is not started over.
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
  // State of a promise loop at its last stop.
  struct Stop {
    int calls = 0;  // tool calls until then
    int idle = 0;   // continuations in a row without a tool call, including the one that followed
    bool operator==(const Stop&) const = default;
    template <class V>
    void fields(V&& v) {
      v("calls", calls), v("idle", idle);
    }
  };
  Stop last_stop;

  std::optional<Session> last_session;  // of the last turn, for a loop that keeps one session
  int tool_calls = 0;                   // of all turns

  // What the run has used.
  Tokens tokens;
  double cost_usd = 0;

  // The guardrails of this iteration.
  int guardrails_passed = 0;
  std::vector<std::string> guardrails_failed;  // their names
  std::vector<Feedback> collecting;            // their messages so far
  std::vector<std::string> tests_lost;         // checks that passed with fewer tests than at the start, in words
  std::map<std::string, TestCounts> tests;     // by command: of its baseline run, or its first run that passed

  // Diagnostics, if there are criteria over them. Unmet criteria are also listed in guardrails_failed.
  struct Diagnostics {
    std::vector<diagnostics::Snapshot> snapshots;  // beginning before the first agent
    std::vector<std::string> unmet;                // criteria, as of the last snapshot, in words
    bool operator==(const Diagnostics&) const = default;
    template <class V>
    void fields(V&& v) {
      v("snapshots", snapshots), v("unmet", unmet);
    }
  };
  Diagnostics diagnosed;
  std::string diagnostics_trend() const;  // "12 → 5 → 0 errors"; empty: no snapshots

  // The SCM tasks of this iteration.
  struct Scm {
    std::vector<std::string> done;    // successfully, or with nothing to do
    std::string message;              // the agent's message for the next commit; empty: not asked for yet
    std::string task, head;           // started but not ended; HEAD before it
    std::vector<std::string> failed;  // not to be ignored: the run is not complete
    std::vector<Feedback> feedback;   // their messages
    bool operator==(const Scm&) const = default;
    template <class V>
    void fields(V&& v) {
      v("done", done), v("message", message), v("task", task), v("head", head), v("failed", failed);
      v("feedback", feedback);
    }
  };
  Scm scm;

  std::vector<std::string> survivors;  // processes of agents that could not be ended

  // Watched files, see engine/watch.h and engine/trigger_watch.h.
  struct Watch {
    std::string manifest;               // hash of their list; empty: nothing is watched yet
    std::vector<std::string> held;      // files whose change keeps the run from completing in this iteration
    std::vector<Feedback> feedback;     // of this iteration
    std::string triggers;               // hash of the list of triggers; empty: none, or to be taken again
    std::vector<std::string> tampered;  // changes to triggers reported since the last approval, in words
    bool operator==(const Watch&) const = default;
    template <class V>
    void fields(V&& v) {
      v("manifest", manifest), v("held", held), v("feedback", feedback), v("triggers", triggers);
      v("tampered", tampered);
    }
  };
  Watch watch;

  // The plan's stories as ralph left them, if the run works on a plan.
  struct Plan {
    int worked = 0, judged = 0;  // the last iteration with an assigned story, and with a result
    int stories = 0, done = 0;
    std::vector<std::string> open;                   // "US-002 (needs_review)"
    int unsaid = 0;                                  // reviews in a row that wrote a verdict but did not state it
    std::string story;                               // of the last iteration
    std::map<std::string, std::string> uncommitted;  // state of files that were uncommitted before the run, by path
    std::vector<std::string> made, added;            // as in PlanChecked
    std::vector<std::string> at_cap;                 // stories approved by the review cap, not by a review
    std::optional<record::PendingReview> pending, before;
    std::string head;
    std::string reviewed;  // the commit at the start of the last review
    std::map<std::string, std::string> bases;
    bool operator==(const Plan&) const = default;
    template <class V>
    void fields(V&& v) {
      v("stories", stories), v("done", done), v("open", open), v("pending", pending), v("head", head);
      v("bases", bases), v("worked", worked), v("judged", judged), v("reviewed", reviewed);
      v("before", before), v("unsaid", unsaid), v("story", story);
      v("uncommitted", uncommitted), v("made", made), v("added", added);
      v("atCap", at_cap);
    }
  };
  Plan plan;

  std::vector<Feedback> feedback;  // for the next prompt: failures of the last iteration whose checks ran

  std::optional<std::string> living_agent;  // processes of an agent that could not be ended
  int stop_requests = 0;                    // 1: finish the current step; 2 and more: end everything now

  // The host's session that a session loop runs in.
  struct Host {
    std::string session;                    // its id; empty: no session has adopted the loop yet
    std::string transcript;                 // its path, if known
    std::uint64_t transcript_start = 0;     // its size when the loop began; earlier content is ignored
    std::uint64_t transcript_read = 0;      // how far it has been read
    std::int64_t transcript_calls = 0;      // tool calls found in it
    std::vector<std::string> recent_calls;  // their latest ids, so that none is counted twice
    bool refused_late = false;              // a refused promise has not appeared in the transcript yet
    std::string tree;                       // fingerprint of the work tree when the loop began; empty: unknown
    WallTime since{};                       // when the session was bound
    // From the last hook that was acted on: the prompt's id, and the hash of the last message at a stop. If both recur,
    // a second hook is reporting the same event.
    std::string prompt_id, last_message;
    std::int64_t prompts = 0;         // user prompts up to the last stop
    std::vector<std::string> waited;  // ids of background tasks for which a stop was allowed
    WallTime waiting_since{};         // the first such stop in a row
    std::string ended;                // why the session ended; empty: it is alive, as far as known
    bool held = false;                // the last stop left checks running; the promise that started them is still valid
    bool operator==(const Host&) const = default;
    template <class V>
    void fields(V&& v) {
      v("session", session), v("transcript", transcript), v("transcriptStart", transcript_start);
      v("transcriptRead", transcript_read), v("transcriptCalls", transcript_calls), v("recentCalls", recent_calls);
      v("refusedLate", refused_late), v("tree", tree), v("since", since), v("promptId", prompt_id);
      v("lastMessage", last_message), v("prompts", prompts), v("waited", waited), v("waitingSince", waiting_since);
      v("ended", ended), v("held", held);
    }
  };
  Host host;

  // Sums over the whole run.
  struct Totals {
    int turns = 0, passed = 0, failed = 0, commits = 0, scm_failures = 0, swept = 0, violations = 0;
    int blocked = 0;  // requests from the sandbox
    Milliseconds agent_time{0};
    bool operator==(const Totals&) const = default;
    template <class V>
    void fields(V&& v) {
      v("turns", turns), v("passed", passed), v("failed", failed), v("commits", commits);
      v("scmFailures", scm_failures), v("swept", swept), v("violations", violations), v("blocked", blocked),
          v("agentMs", agent_time);
    }
  };
  Totals totals;

  // Whether this iteration's turn has its result. A turn that was cut off from outside is taken again.
  bool turn_is_over() const;
  bool turn_was_cut_off() const;
  // Whether the guardrails passed, without lost tests and without changes to protected files.
  bool checks_hold() const { return guardrails_failed.empty() && tests_lost.empty() && watch.held.empty(); }
  // Whether this iteration is done except for the record of its end.
  bool iteration_is_judged() const { return iteration_open && plan.judged == iteration; }
  // Whether the run ended because its repository was lost: it must not continue without the commits.
  bool repository_is_gone() const { return status != StopStatus::kNone && last_rule == kRepositoryGone; }

  bool operator==(const Progress&) const = default;
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("iterationBeganMs", iteration_began), v("runMs", run_time),
        v("lastRecord", last_record), v("why", outcome_note);
    v("status", status), v("attempts", attempts), v("failedAttempts", failed_attempts), v("halfDone", half_done),
        v("turnOutcome", turn_outcome);
    v("turnReason", turn_reason), v("turnExitCode", turn_exit_code), v("turnAgent", turn_agent),
        v("response", response), v("mentioned", mentioned), v("said", said), v("finalWords", final_words);
    v("failedTurnsInRow", failed_turns_in_row), v("overloadsInRow", overloads_in_row), v("lastRule", last_rule);
    v("limited", limited), v("session", session), v("lastSession", last_session), v("toolCalls", tool_calls);
    v("lastStop", last_stop), v("inputTokens", tokens.input), v("outputTokens", tokens.output),
        v("cacheReadTokens", tokens.cache_read);
    v("cacheWriteTokens", tokens.cache_write), v("costUsd", cost_usd), v("guardrailsPassed", guardrails_passed);
    v("guardrailsFailed", guardrails_failed), v("testsLost", tests_lost), v("tests", tests),
        v("collecting", collecting), v("plan", plan), v("watch", watch), v("feedback", feedback);
    v("stopRequests", stop_requests), v("host", host), v("totals", totals), v("iterationOpen", iteration_open);
    v("running", running), v("scm", scm), v("completed", completed), v("livingAgent", living_agent);
    v("survivors", survivors), v("diagnosed", diagnosed);
  }
};

// The progress after `written`. Irrelevant records leave it unchanged.
Progress fold(Progress progress, const record::Record& written);

// Lists in `resumed` the claims in `all` that do not hold in `sealed`, the progress at the record that the journal's
// seal names. Anybody who can write to the project can add records after that one, so they must not approve, complete
// or hide anything.
void list_unsealed_claims(record::RunResumed& resumed, const Progress& all, const Progress& sealed);

}  // namespace ralph
