// Where loops are kept: one file per session under .ralph/loop/ with a log beside it, ended ones under
// .ralph/loop/history/. Every change is made under a lock and written whole; a .ralph/loop that is a symbolic link is
// not used. A note outside the project says in which one a session has its loop, so that it is found from any folder
// that the session moves to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "os/environment.h"
#include "session/loop_state.h"

namespace ralph {

class LoopStore {
 public:
  LoopStore(std::string project, Environment environment)
      : project_(std::move(project)), environment_(std::move(environment)) {}

  const std::string& project() const { return project_; }

  // Begins a loop; an empty session makes an unbound one. Fails with kBusy if the session has an active loop.
  Result<LoopState> start(const LoopRequest& request, const std::string& session, const std::string& transcript);

  // The session's loop, or the unbound one of an empty session; nothing if there is none.
  Result<std::optional<LoopState>> load(const std::string& session) const;

  // Reads, changes and writes under the lock. What `change` adds to the decisions, which it finds empty, is kept beside
  // the state; active() and history() give all of them. A loop that `change` has ended goes to the history. Nothing
  // happens, and nothing is returned, if there is no active loop.
  Result<std::optional<LoopState>> update(const std::string& session, const std::function<void(LoopState&)>& change);

  // Binds the unbound loop, once, to a session that has none of its own.
  Result<std::optional<LoopState>> adopt(const std::string& session, const std::string& transcript);

  // The post-tool hook's own count: one byte for each call, so that it needs no lock.
  void count_tool_call(const std::string& session) const;
  std::int64_t counted_tool_calls(const std::string& session) const;

  // Those of one session, if one is named. Files that can't be read are left out, and named in `damaged`.
  std::vector<LoopState> active(const std::string& session = {}, std::vector<std::string>* damaged = nullptr) const;
  // The newest first.
  std::vector<LoopState> history(const std::string& session = {}, std::vector<std::string>* damaged = nullptr) const;

 private:
  std::string folder() const;
  std::string path_of(const std::string& session, std::string_view ending = ".json") const;
  Status prepare() const;
  Status free_place_of(const std::string& session) const;  // kBusy if an active loop is there
  void leave_note(const std::string& session) const;
  Status put_away(LoopState state) const;

  std::string project_;
  Environment environment_;
};

// The folder whose loop a session has: from `cwd` upward, then by the note outside. Nothing: it has none.
std::optional<std::string> project_of_session(const Environment& environment, const std::string& session,
                                              const std::string& cwd);

// Where a loop that begins in `cwd` is kept: the nearest folder upward with .ralph or .git, else `cwd` itself.
std::string project_for_loop(const std::string& cwd);

// What the work tree is like, as a short text to compare; empty if git can't say. Slow: it starts git.
std::string tree_fingerprint(const std::string& folder, const Environment& environment);

}  // namespace ralph
