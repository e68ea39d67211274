// The session loops of a project. Each is a run of its own in .ralph/runs/<id>/; which one a session has is noted
// outside the project, in $XDG_STATE_HOME/ralph/sessions/, so that it is found from any folder that the session moves
// to, and so that nothing that came with a repository is taken for a loop. What the loop was started with stands
// unmasked in request.json beside the journal until it has ended.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/run.h"
#include "os/environment.h"
#include "session/loop_state.h"

namespace ralph {

// A session's run, open for a decision: no other hook of the session gets in between.
struct SessionRun {
  struct Parts;
  LoopRequest request;
  std::shared_ptr<Parts> parts;  // that the run works with
  Run run;

  LoopState state() const;
};

class LoopStore {
 public:
  LoopStore(std::string project, Environment environment)
      : project_(std::move(project)), environment_(std::move(environment)) {}

  const std::string& project() const { return project_; }

  // Begins a loop; an empty session makes an unbound one. Fails with kBusy if the session has an active loop.
  Result<LoopState> start(const LoopRequest& request, const std::string& session, const std::string& transcript);

  // The session's loop, or the unbound one of an empty session; nothing if there is none.
  Result<std::optional<LoopState>> load(const std::string& session) const;

  // The same for those who ask for a decision. Nothing if there is no active loop.
  Result<std::optional<SessionRun>> open(const std::string& session) const;

  // Writes down the end of a loop that is over. Nothing of it is told unmasked from then on.
  Status close(SessionRun& loop, StopStatus status, const std::string& reason) const;

  // Ends it for its user. Nothing if there is no active loop.
  Result<std::optional<LoopState>> cancel(const std::string& session) const;

  // Binds the unbound loop, once, to a session that has none of its own.
  Result<std::optional<LoopState>> adopt(const std::string& session, const std::string& transcript);

  // A loop of version 0.1 that is still active goes on as a run. True: there was one.
  bool upgrade(const std::string& session);

  // The post-tool hook's own count: one byte for each call, so that it needs no lock.
  void count_tool_call(const std::string& session) const;
  std::int64_t counted_tool_calls(const std::string& session) const;

  // Those of one session, if one is named. Files that can't be read are left out, and named in `damaged`.
  std::vector<LoopState> active(const std::string& session = {}, std::vector<std::string>* damaged = nullptr) const;
  // The newest first.
  std::vector<LoopState> history(const std::string& session = {}, std::vector<std::string>* damaged = nullptr) const;

 private:
  std::string note_of(const std::string& session) const;  // which run it has
  std::optional<RunFolder> find(const std::string& session) const;
  Result<SessionRun> open_run(const RunFolder& folder, LoopRequest request) const;
  Result<LoopState> begin(const LoopRequest& request, record::SessionBound bound);
  Status free_place_of(const std::string& session);  // kBusy if an active loop is there
  std::vector<LoopState> all(const std::string& session, std::vector<std::string>* damaged) const;

  std::string project_;
  Environment environment_;
};

// The folder whose loop a session has. Nothing: it has none.
std::optional<std::string> project_of_session(const Environment& environment, const std::string& session);

// Where a loop that begins in `cwd` is kept: the nearest folder upward with .ralph or .git, else `cwd` itself.
std::string project_for_loop(const std::string& cwd);

}  // namespace ralph
