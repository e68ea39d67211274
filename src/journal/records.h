// The records of a run: one per event, in order. A record is written before the effect it announces (…Started) and
// after the effect it reports (…Ended). Specified in docs/formats/journal.md.
//
// Each record lists its fields once, for writing and reading. A reader tolerates newer journals: it ignores unknown
// fields and returns records of an unknown type as Unknown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "journal/words.h"
#include "json/fields.h"

namespace ralph::record {

inline constexpr int kVersion = 2;

struct RunStarted {
  static constexpr std::string_view kType = "run_started";
  WayIn way = WayIn::kUnknown;
  std::string run_id, ralph_version, project, agent, prompt_source, prompt;
  std::string folder;                  // where the command was typed
  std::vector<std::string> arguments;  // its words after its name
  bool masked = false;                 // a secret in the arguments was masked
  std::string commit;                  // HEAD; empty: none, or no repository
  std::int64_t pid = 0, max_iterations = 0;
  json::value settings;  // the effective settings, so that a run can be inspected and resumed without the files
  template <class V>
  void fields(V&& v) {
    v("runId", run_id), v("way", way), v("ralph", ralph_version), v("project", project), v("agent", agent);
    v("promptSource", prompt_source), v("prompt", prompt), v("folder", folder), v("arguments", arguments);
    v("masked", masked), v("pid", pid), v("maxIterations", max_iterations), v("commit", commit);
    v("settings", settings);
  }
};

// Another process resumes the run.
struct RunResumed {
  static constexpr std::string_view kType = "run_resumed";
  std::string run_id, ralph_version, agent;
  std::vector<std::string> arguments;  // of the command that resumed it, in addition to the earlier ones
  std::string folder;                  // for a task: where that command was typed; its arguments replace earlier ones
  bool masked = false;                 // a secret in the arguments was masked
  std::int64_t pid = 0, max_iterations = 0;
  std::int64_t spent_ms = 0;  // so far, including a killed turn up to its last output
  json::value settings;       // as read for this process
  std::vector<Claim> disbelieved;
  std::string watched, triggers;  // their sealed values, if disbelieved
  template <class V>
  void fields(V&& v) {
    v("runId", run_id), v("ralph", ralph_version), v("agent", agent), v("arguments", arguments), v("pid", pid);
    v("maxIterations", max_iterations), v("spentMs", spent_ms), v("settings", settings);
    v("folder", folder), v("masked", masked), v("disbelieved", disbelieved), v("watched", watched);
    v("triggers", triggers);
  }
};

struct IterationStarted {
  static constexpr std::string_view kType = "iteration_started";
  std::int64_t iteration = 0;
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration);
  }
};

struct AgentStarted {
  static constexpr std::string_view kType = "agent_started";
  std::int64_t iteration = 0, attempt = 0, prompt_bytes = 0;
  Purpose purpose = Purpose::kWork;
  std::string agent;        // which of the run's agents
  std::string resumes;      // the session it continues; empty: a new one
  std::string prompt_file;  // relative to the run's folder, like all files here
  std::string stdout_file, stderr_file;
  std::vector<std::string> argv;
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("attempt", attempt), v("purpose", purpose), v("agent", agent), v("resumes", resumes);
    v("argv", argv), v("promptFile", prompt_file), v("promptBytes", prompt_bytes);
    v("stdoutFile", stdout_file), v("stderrFile", stderr_file);
  }
};

struct AgentEnded {
  static constexpr std::string_view kType = "agent_ended";
  std::int64_t iteration = 0, attempt = 0, exit_code = 0, signal = 0, duration_ms = 0, output_bytes = 0;
  std::int64_t input_tokens = 0, output_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0;  // of this turn
  std::int64_t tools = 0, unknown_events = 0;
  double cost_usd = 0;  // of this turn; 0 if the agent does not report it
  Purpose purpose = Purpose::kWork;
  TurnOutcome outcome = TurnOutcome::kNone;
  std::string agent, session;
  std::string resets_at;                // of a usage limit, if announced
  std::string reason;                   // if the outcome is not ok: "exit code 1"
  std::optional<std::string> response;  // the content of its first <response> tag
  bool mentioned = false;               // it only mentioned the promise
  std::string said;                     // its last words, if it should make a promise and called no tool
  std::string message;                  // the requested commit message
  std::string final_words;              // the end of its last message, if it matters, as in a review
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("attempt", attempt), v("purpose", purpose), v("agent", agent), v("outcome", outcome);
    v("exitCode", exit_code), v("signal", signal), v("durationMs", duration_ms), v("outputBytes", output_bytes);
    v("reason", reason), v("response", response), v("session", session), v("resetsAt", resets_at);
    v("inputTokens", input_tokens), v("outputTokens", output_tokens), v("cacheReadTokens", cache_read_tokens);
    v("cacheWriteTokens", cache_write_tokens), v("costUsd", cost_usd), v("tools", tools);
    v("unknownEvents", unknown_events), v("mentioned", mentioned), v("said", said);
    v("message", message), v("finalWords", final_words);
  }
};

struct GuardrailStarted {
  static constexpr std::string_view kType = "guardrail_started";
  std::int64_t iteration = 0, index = 0;
  std::string name, command, log_file;
  bool baseline = false;  // before the first agent, to learn its test counts
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("index", index), v("name", name), v("command", command), v("logFile", log_file);
    v("baseline", baseline);
  }
};

struct GuardrailEnded {
  static constexpr std::string_view kType = "guardrail_ended";
  std::int64_t iteration = 0, index = 0, exit_code = 0, duration_ms = 0, output_bytes = 0;
  std::string name, command, log_file, fail_action;
  CheckOutcome outcome = CheckOutcome::kNone;
  std::string feedback;                                                   // the message for the agent; may be empty
  std::optional<std::int64_t> tests_passed, tests_failed, tests_skipped;  // nullopt: unknown
  std::string tests_lost;  // how it passed with fewer tests than at the start of the run, in words; empty: it did not
  std::int64_t tries = 1;  // more than 1: it failed before it passed, or failed every time
  bool baseline = false;   // before the first agent: its outcome decides nothing
  std::string log_sha256;
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("index", index), v("name", name), v("command", command), v("outcome", outcome);
    v("exitCode", exit_code), v("durationMs", duration_ms), v("outputBytes", output_bytes), v("logFile", log_file);
    v("failAction", fail_action), v("feedback", feedback), v("testsPassed", tests_passed);
    v("testsFailed", tests_failed), v("testsSkipped", tests_skipped), v("testsLost", tests_lost), v("tries", tries);
    v("baseline", baseline), v("logSha256", log_sha256);
  }
};

struct ScmStarted {
  static constexpr std::string_view kType = "scm_started";
  std::int64_t iteration = 0;
  std::string task;
  std::vector<std::string> argv;
  std::string head;  // for a commit: HEAD before it; empty: none, or not git
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("task", task), v("argv", argv), v("head", head);
  }
};

struct ScmEnded {
  static constexpr std::string_view kType = "scm_ended";
  std::int64_t iteration = 0, exit_code = 0, duration_ms = 0;
  std::string task;
  ScmOutcome outcome = ScmOutcome::kNone;
  std::string note;      // the commit's short id, or what went wrong
  std::string feedback;  // the message for the agent; empty: it succeeded, or its failure is ignored
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("task", task), v("outcome", outcome), v("exitCode", exit_code);
    v("durationMs", duration_ms), v("note", note), v("feedback", feedback);
  }
};

// The watched files as they were when the run began: protected files, and files that checks name.
struct FilesWatched {
  static constexpr std::string_view kType = "files_watched";
  std::int64_t files = 0, bytes = 0;
  std::string manifest;  // SHA-256 of their list, which is stored with their copies
  template <class V>
  void fields(V&& v) {
    v("files", files), v("bytes", bytes), v("manifest", manifest);
  }
};

struct ChangedFile {
  std::string path;  // in the project
  std::string what;  // "changed", "deleted", "replaced by something else"
  WatchAction action = WatchAction::kReported;
  std::string kept;     // the changed version, relative to the run's folder; empty: not kept
  std::string exact{};  // its unmasked copy, outside the project; empty: nothing was masked
  std::string note;     // which check names it, or why it could not be restored
  bool operator==(const ChangedFile&) const = default;
  template <class V>
  void fields(V&& v) {
    v("path", path), v("what", what), v("action", action), v("kept", kept), v("exact", exact), v("note", note);
  }
};

// The results of the diagnostic collectors after a turn, and which criteria are not met.
struct Diagnosed {
  static constexpr std::string_view kType = "diagnosed";
  std::int64_t iteration = 0, duration_ms = 0;
  bool baseline = false;           // before the first agent: it blocks nothing
  std::string summary;             // in words
  std::vector<std::string> unmet;  // in words; empty: all criteria are met
  json::value snapshot;            // docs/formats/diagnostics.md
  json::value collectors;          // the outcome of each
  std::string report_file;         // with all findings
  std::string feedback;            // the message for the agent; may be empty
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("durationMs", duration_ms), v("baseline", baseline), v("summary", summary);
    v("unmet", unmet), v("snapshot", snapshot), v("collectors", collectors), v("reportFile", report_file);
    v("feedback", feedback);
  }
};

// Watched files that are no longer as they were when the run began.
struct FilesChanged {
  static constexpr std::string_view kType = "files_changed";
  std::int64_t iteration = 0;
  StepKind after = StepKind::kNone;  // the step that changed them; changes by a check or SCM task come too late
  std::vector<ChangedFile> files;    // at most a hundred
  std::int64_t more = 0;             // number of files not listed
  std::string feedback;              // the message for the agent
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("after", after), v("files", files), v("more", more);
    v("feedback", feedback);
  }
};

// The files that make other programs run code (hooks, settings of git and agents), as they were when the run began.
struct TriggersWatched {
  static constexpr std::string_view kType = "triggers_watched";
  std::int64_t files = 0;
  std::string manifest;  // as in FilesWatched
  template <class V>
  void fields(V&& v) {
    v("files", files), v("manifest", manifest);
  }
};

// Such files that are no longer as they were when the run began. Each change is reported once.
struct TriggersChanged : FilesChanged {
  static constexpr std::string_view kType = "triggers_changed";
};

struct SignalReceived {
  static constexpr std::string_view kType = "signal_received";
  std::string signal;      // "SIGINT"
  std::int64_t count = 0;  // 1: finish the current step; 2: end everything now
  template <class V>
  void fields(V&& v) {
    v("signal", signal), v("count", count);
  }
};

// The time of day went on without the run: a pause by Ctrl-Z, the machine's sleep, or a clock that was set forward.
struct RunPaused {
  static constexpr std::string_view kType = "run_paused";
  std::int64_t duration_ms = 0;
  template <class V>
  void fields(V&& v) {
    v("durationMs", duration_ms);
  }
};

struct ProcessesSwept {
  static constexpr std::string_view kType = "processes_swept";
  StepKind after = StepKind::kNone;    // the step that left them
  std::vector<std::string> ended;      // "pid 4711: sleep 1000"
  std::vector<std::string> survivors;  // could not be ended
  bool agent_lives = false;            // the agent itself is among them
  template <class V>
  void fields(V&& v) {
    v("after", after), v("ended", ended), v("survivors", survivors), v("agentLives", agent_lives);
  }
};

// The sandbox of the run's programs, and its interventions.
struct SandboxNoted {
  static constexpr std::string_view kType = "sandbox_noted";
  std::string in_force;              // at the start: "bubblewrap; network …"
  std::vector<std::string> blocked;  // requests that were refused, and how to allow them
  std::vector<std::string> taken;    // files that appeared and were removed
  std::int64_t requests = 0;         // how many were blocked
  template <class V>
  void fields(V&& v) {
    v("inForce", in_force), v("blocked", blocked), v("taken", taken), v("requests", requests);
  }
};

struct Decided {
  static constexpr std::string_view kType = "decided";
  std::int64_t iteration = 0, delay_ms = 0;
  Moment moment = Moment::kBeforeIteration;
  std::string rule;  // the row of engine/decide that applied
  Action decision = Action::kContinue;
  StopStatus status = StopStatus::kNone;  // for stop
  std::string reason;
  std::optional<json::value> observation;  // so that the decision can be replayed
  std::optional<json::value> progress;     // of a session's run, after this decision
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("moment", moment), v("rule", rule), v("decision", decision), v("status", status);
    v("reason", reason), v("delayMs", delay_ms), v("observation", observation), v("progress", progress);
  }
};

// Binds a session loop to this session of a host.
struct SessionBound {
  static constexpr std::string_view kType = "session_bound";
  std::string session, transcript;
  std::uint64_t transcript_size = 0;  // earlier content is ignored
  std::string tree;                   // fingerprint of the work tree, for comparison; empty: unknown
  // The progress of a loop that was started by version 0.1.
  std::uint64_t transcript_read = 0;
  std::int64_t transcript_calls = 0;
  int iteration = 0;
  std::string prompt_id;  // of the prompt that started the loop; empty: unknown
  template <class V>
  void fields(V&& v) {
    v("session", session), v("transcript", transcript), v("transcriptSize", transcript_size), v("tree", tree);
    v("transcriptRead", transcript_read), v("transcriptCalls", transcript_calls), v("iteration", iteration);
    v("promptId", prompt_id);
  }
};

// The host's session of a loop has ended or, if the reason is empty, has continued.
struct SessionEnded {
  static constexpr std::string_view kType = "session_ended";
  std::string session, reason;
  template <class V>
  void fields(V&& v) {
    v("session", session), v("reason", reason);
  }
};

// The state that a plan's run found at its start, which is not held against its agents.
struct PlanBegan {
  static constexpr std::string_view kType = "plan_began";
  std::map<std::string, std::string> uncommitted;  // state of the file, by path
  std::vector<std::string> added;                  // verify commands that agents of earlier runs added
  template <class V>
  void fields(V&& v) {
    v("uncommitted", uncommitted), v("added", added);
  }
};

// The start of a plan's iteration: its mode and story.
struct PlanWork {
  static constexpr std::string_view kType = "plan_work";
  std::int64_t iteration = 0, reviews = 0, review_cap = 0;
  Mode mode = Mode::kImplement;
  std::string story, title;
  std::string head;      // HEAD at its start; empty: none
  std::string base;      // HEAD before the story's first iteration; empty: unknown
  std::string room;      // for a review: its clean checkout; empty: the project
  std::string in_place;  // for a review: why it works in the project
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("mode", mode), v("story", story), v("title", title), v("reviews", reviews);
    v("reviewCap", review_cap), v("head", head), v("base", base), v("room", room), v("inPlace", in_place);
  }
};

// A story's step that was not checked because the run was asked to stop. The next run checks it first.
struct PendingReview {
  std::string story;
  StoryStep step = StoryStep::kNone;
  bool passes = false;
  std::string status;  // reviewStatus, as in tasks.json
  std::int64_t count = 0;
  std::string feedback;
  bool operator==(const PendingReview&) const = default;
  template <class V>
  void fields(V&& v) {
    v("story", story), v("step", step), v("passes", passes), v("reviewStatus", status), v("reviewCount", count);
    v("reviewFeedback", feedback);
  }
};

// The result of a plan's iteration: the story list as ralph left it, and what it had to revert.
struct PlanChecked {
  static constexpr std::string_view kType = "plan_checked";
  std::int64_t iteration = 0, stories = 0, done = 0;
  bool judged = false;       // the iteration has a result; false: it was cut short before its checks
  std::optional<Mode> mode;  // nullopt: there was no iteration
  std::string story;
  StoryStep outcome = StoryStep::kNone;
  std::vector<std::string> open;        // unfinished stories with their states: "US-002 (needs_review)"
  std::vector<std::string> at_cap;      // finished stories approved by the review cap, not by a review
  std::vector<std::string> violations;  // what was reverted, and why
  std::vector<std::string> notes;       // for the user and the next iteration
  std::string feedback;                 // the message for the agent; may be empty
  bool unsaid = false;                  // a review wrote a verdict but did not state it
  std::vector<std::string> made;        // files created by this run's checks that git does not ignore
  std::vector<std::string> added;       // verify commands that agents added
  // For the next run.
  std::optional<PendingReview> pending;
  std::optional<PendingReview> before;       // that story before the step
  std::string head;                          // the commit from which to check history; empty: already checked
  std::map<std::string, std::string> bases;  // by story: HEAD before its first iteration
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("mode", mode), v("story", story), v("outcome", outcome), v("stories", stories);
    v("done", done), v("open", open), v("violations", violations), v("notes", notes), v("feedback", feedback);
    v("pending", pending), v("before", before), v("head", head), v("bases", bases), v("judged", judged);
    v("unsaid", unsaid), v("made", made), v("added", added);
    v("atCap", at_cap);
  }
};

struct IterationEnded {
  static constexpr std::string_view kType = "iteration_ended";
  std::int64_t iteration = 0, duration_ms = 0;
  template <class V>
  void fields(V&& v) {
    v("iteration", iteration), v("durationMs", duration_ms);
  }
};

struct RunEnded {
  static constexpr std::string_view kType = "run_ended";
  StopStatus status = StopStatus::kNone;
  std::string reason;
  std::int64_t exit_code = 0, iterations = 0, duration_ms = 0, tokens = 0;
  double cost_usd = 0;
  std::string resume;                           // the command that resumes it; empty: there is nothing to resume
  std::string commit;                           // HEAD; empty: none, or no repository
  std::map<std::string, std::string> versions;  // of the agents, by name; unknown ones are omitted
  template <class V>
  void fields(V&& v) {
    v("status", status), v("reason", reason), v("exitCode", exit_code), v("iterations", iterations);
    v("durationMs", duration_ms), v("tokens", tokens), v("costUsd", cost_usd), v("resume", resume);
    v("commit", commit), v("versions", versions);
  }
};

struct Unknown {
  std::string type;
  json::object fields_as_written;
};

using AnyBody =
    std::variant<RunStarted, RunResumed, IterationStarted, AgentStarted, AgentEnded, GuardrailStarted, GuardrailEnded,
                 Diagnosed, ScmStarted, ScmEnded, FilesWatched, FilesChanged, TriggersWatched, TriggersChanged,
                 SignalReceived, RunPaused, ProcessesSwept, SandboxNoted, Decided, SessionBound, SessionEnded,
                 PlanBegan, PlanWork, PlanChecked, IterationEnded, RunEnded, Unknown>;

// Copying, moving and destroying a variant of so many types takes a lot of code, which would be compiled again in every
// file that has a record.
struct Body : AnyBody {
  using AnyBody::AnyBody;
  Body();
  Body(const Body&);
  Body(Body&&) noexcept;
  Body& operator=(const Body&);
  Body& operator=(Body&&) noexcept;
  ~Body();
};

struct Record {
  std::int64_t sequence = 0;  // from 1, no gaps
  WallTime time{};
  Body body;
  std::string prev{};      // the SHA-256 of the previous line; empty in the first record and in version 1
  int version = kVersion;  // of the format in which it was written
  std::optional<Milliseconds> run_time{};  // spent by the run so far; nullopt: only the times of day are known
};

// One line of JSON, without a newline: {"v":2,"seq":1,"time":"…","runMs":0,"prev":"…","type":"run_started",…}
std::string to_line(const Record& record);

// Fails on text that is not a JSON object or has no type. A newer version is read as far as possible.
Result<Record> from_line(std::string_view line);

std::string_view type_of(const Body& body);

}  // namespace ralph::record
