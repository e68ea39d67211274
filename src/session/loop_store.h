// The session loops of a project. Each is a run in .ralph/runs/<id>/. The note that maps a session to its run is
// outside the project, in $XDG_STATE_HOME/ralph/sessions/: it is found from any folder that the session moves to, and
// no file in a repository can pass for a loop. Until a loop ends, its request is kept unmasked in request.json next to
// the journal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/run.h"
#include "os/environment.h"
#include "session/held_checks.h"
#include "session/loop_state.h"

namespace ralph {

// A session's run, opened for a decision. Locked: no other hook of the session interferes.
struct SessionRun {
  struct Parts;
  LoopRequest request;
  std::shared_ptr<Parts> parts;  // owns what the run refers to
  Run run;

  LoopState state() const { return loop_state_of(run.id, request, run.progress()); }
  std::int64_t counted_tool_calls() const;  // as in LoopStore
  std::int64_t counted_prompts() const;
};

// The snapshots in the folder of a loop's run, for people. Decisions use the copy in the state folder.
inline constexpr std::string_view kSnapshotsFile = "snapshots.json";

class LoopStore {
 public:
  LoopStore(std::string project, Environment environment)
      : project_(std::move(project)), environment_(std::move(environment)) {}

  const std::string& project() const { return project_; }

  // Starts a loop; an empty session makes an unbound one. Fails with kBusy if the session has an active loop.
  // `prompt_id` names the line that the user typed; empty: unknown.
  Result<LoopState> start(const LoopRequest& request, const std::string& session, const std::string& transcript,
                          const std::string& prompt_id = {});

  // The session's loop, or the unbound one for an empty session; nullopt if there is none.
  Result<std::optional<LoopState>> load(const std::string& session) const;

  // Opens the loop for a decision. nullopt if there is no active loop.
  Result<std::optional<SessionRun>> open(const std::string& session) const;

  // Records the end of a loop and removes its unmasked request.
  Status close(SessionRun& loop, StopStatus status, const std::string& reason) const;

  // Cancels the loop on behalf of the user. nullopt if there is no active loop.
  Result<std::optional<LoopState>> cancel(const std::string& session) const;

  // Records that the host's session has ended, or continues if `reason` is empty. A cleared session never comes back,
  // so its loop is cancelled.
  Status note_session_end(const std::string& session, const std::string& reason) const;

  // Records the process that called this hook as the session's host. The session lives as long as that process.
  Status note_host(const std::string& session) const;

  // The loop that the user's /clear has just ended, if there is one.
  std::optional<LoopState> just_cleared() const;

  // Binds the unbound loop, once, to a session that has no loop.
  Result<std::optional<LoopState>> adopt(const std::string& session, const std::string& transcript);

  // Converts an active loop of version 0.1 into a run. True if there was one.
  bool upgrade(const std::string& session);

  // The post-tool hook's own count, which needs no lock on the run. A call with an id counts once, even if two hooks
  // report it.
  void count_tool_call(const std::string& session, std::string_view id = {}) const;
  std::int64_t counted_tool_calls(const std::string& session) const;

  // The same for the lines that the user types into a session with a loop.
  void count_prompt(const std::string& session, std::string_view id = {}) const;
  std::int64_t counted_prompts(const std::string& session) const;

  // The checks of the session's loop, if any were started.
  HeldChecks checks_of(const std::string& session) const { return HeldChecks(note_of(session)); }

  // The file with the snapshots of the session's loop.
  std::string snapshots_of(const std::string& session) const { return note_of(session) + ".snapshots"; }

  // The file with the initial state of this run's loop (diagnose.h). Outside the project, like the notes.
  std::string outset_of(const std::string& run) const { return join_path(parent_path(note_of("")), run + ".outset"); }

  // The active loops, of one session if one is given. Unreadable files are skipped and named in `damaged`.
  std::vector<LoopState> active(const std::string& session = {}, std::vector<std::string>* damaged = nullptr) const;
  // Newest first.
  std::vector<LoopState> history(const std::string& session = {}, std::vector<std::string>* damaged = nullptr) const;

 private:
  void add_to_count(const std::string& session, std::string_view file, std::string_view id) const;
  std::int64_t count_in(const std::string& session, std::string_view file) const;
  std::string note_of(const std::string& session) const;  // the file that names the session's run
  std::optional<RunFolder> find(const std::string& session) const;
  Result<SessionRun> open_run(const RunFolder& folder, LoopRequest request) const;
  Result<LoopState> begin(const LoopRequest& request, record::SessionBound bound);
  Result<LoopState> begin_in(const RunFolder& folder, const LoopRequest& request, record::SessionBound bound);
  Status make_room_for(const std::string& session);  // kBusy if there is an active loop
  std::vector<LoopState> all(const std::string& session, std::vector<std::string>* damaged) const;

  std::string project_;
  Environment environment_;
};

// The project of the session's loop; nullopt if it has no loop.
std::optional<std::string> project_of_session(const Environment& environment, const std::string& session);

// Whether the session's loop was cancelled and the session has not been informed yet. True only once: at the session's
// next stop, unless the user types something first.
bool take_cancellation(const Environment& environment, const std::string& session);

// The project of a loop started in `cwd`: the nearest folder upward with .ralph or .git, else `cwd` itself. Folders of
// another user are skipped; `passed_over` gets the reason in words.
std::string project_for_loop(const std::string& cwd, std::string* passed_over = nullptr);

}  // namespace ralph
