// ralph's interface to git. Only this folder knows git's commands; the caller decides how they run: contained within a
// run, or plainly in a command.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/environment.h"

namespace ralph {

struct GitEnd {
  int code = 0;
  std::string output;    // standard output only: parsed
  std::string errors{};  // standard error: only shown
  bool cut = false;      // `output` is truncated
};
inline constexpr size_t kGitOutput = 64 * 1024 * 1024;  // the most that is kept: a list of a million files
using Git = std::function<Result<GitEnd>(const std::vector<std::string>& words)>;  // without "git" itself

// The path of git, looked up once in this process's PATH: an agent may put another one there later. Relative entries of
// PATH are not searched.
Result<std::string> git_program();

// Where one of ralph's own git calls runs.
struct GitPlace {
  std::string folder;       // the working directory
  std::string work_tree{};  // passed to git, because an agent can configure another one; empty: git's own choice
  std::string program{};    // empty or "git": git_program()
  std::string protocols{};  // the kinds of remotes that may be contacted: "file"; empty: none
};

// The command line and environment of a call that ralph makes for itself. A project, and thereby an agent or the author
// of a clone, can make git run programs: hooks, fsmonitor, filters, signing, pagers, editors, diff and merge drivers,
// remote helpers. Programs named in the repository's own configuration never run; filters from the user's and the
// system's configuration do. The repository's settings can't make git overlook a change either. git does not look into
// the work trees of submodules, which have their own configurations.
struct GitCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // added to the caller's
};
Result<GitCommand> own_call(const GitPlace& place, const std::vector<std::string>& words);

// For GIT_GRAFT_FILE: no such file can exist, and git does not complain about it.
inline constexpr const char* kNoGrafts = "/dev/null/no grafts";

// Whether this source control command is git.
bool is_git(const std::string& command);

// Runs git for ralph's own purposes, with this environment (by default the user's); paths are literal, never patterns.
Git plain_git(const std::string& folder);
Git plain_git(GitPlace place, Environment environment, Milliseconds limit = Milliseconds(60000));

}  // namespace ralph
