// ralph's interface to git. Only this folder knows git's commands; the caller decides how they run: contained within a
// run, or plainly in a command.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ralph {

struct GitEnd {
  int code = 0;
  std::string output;    // standard output only: parsed
  std::string errors{};  // standard error: only shown
  bool cut = false;      // `output` is truncated
};
inline constexpr size_t kGitOutput = 64 * 1024 * 1024;  // the most that is kept: a list of a million files
using Git = std::function<Result<GitEnd>(const std::vector<std::string>& words)>;  // without "git" itself

// The command line and environment of ralph's own git queries within a run. A project, and thereby an agent, can make
// git run programs: ralph disables them. Nor may the repository's settings make git overlook a change.
struct GitCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // added to the run's
};
// `work_tree`: passed to git explicitly, because an agent can set another one in the repository's settings. Empty: the
// one that git finds.
GitCommand own_question(const std::string& program, const std::vector<std::string>& words,
                        const std::string& work_tree);

// Whether this source control command is git.
bool is_git(const std::string& command);

// Runs git in `folder` with the user's environment; paths are literal, never patterns.
Git plain_git(const std::string& folder);

}  // namespace ralph
