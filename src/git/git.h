// How ralph speaks to git. This room is the only one that knows git's words; how a command is run is the caller's:
// contained within a run, plainly in a command.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ralph {

struct GitEnd {
  int code = 0;
  std::string output;    // standard output alone: this is read
  std::string errors{};  // standard error: this is only told
  bool cut = false;      // there was more output than `output` has
};
inline constexpr size_t kGitOutput = 64 * 1024 * 1024;  // what is kept of it: a list of a million files
using Git = std::function<Result<GitEnd>(const std::vector<std::string>& words)>;  // without "git" itself

// The command line and the environment of a question that ralph itself asks within a run. Git runs programs that the
// project names, and an agent can name them: ralph needs none of them. Nor may settings of the repository make git
// overlook a change.
struct GitCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // more of it
};
// `work_tree`: an agent can name another one in the repository's settings, so git is told which one it is. Empty: the
// one that git finds.
GitCommand own_question(const std::string& program, const std::vector<std::string>& words,
                        const std::string& work_tree);

// Whether a command of the source control is git.
bool is_git(const std::string& command);

// Runs git in `folder`, with the user's environment; paths mean themselves, never patterns.
Git plain_git(const std::string& folder);

}  // namespace ralph
