// Source control commands, contained like every other process of a run; their output goes to scm.log. Arguments never
// pass through a shell: a commit message may contain anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/step.h"
#include "git/git.h"

namespace ralph {

using Argv = std::vector<std::string>;

// A task may have arguments ("push origin HEAD") and is split into shell words. `commit` gets -am and the message. With
// `add_all`, `add -A` comes first, because -a alone omits new files.
std::vector<Argv> scm_commands(const std::string& scm, const std::string& task, const std::string& message,
                               bool add_all);

// Whether the task needs a commit message.
bool is_commit(std::string_view task);

// The words after `push`; nullopt if the task is not a push.
std::optional<Argv> words_of_push(std::string_view task);

// Whether the SCM reports that there is nothing to commit: a note, not an error.
bool says_nothing_to_commit(std::string_view output);

struct ScmCommandEnd {
  StepEnd end;
  std::string output;  // the beginning of both streams
};

// Looks up the source control program once, before an agent can plant another one in a PATH folder.
void find_scm_program(Run& run);

Result<ScmCommandEnd> run_scm_command(Run& run, const Argv& argv);

// A query whose standard output is read as data, without the warnings on standard error.
struct ScmQuestion {
  Argv argv;
  std::vector<std::pair<std::string, std::string>> environment{};  // added to the run's
  size_t kept_output = 64 * 1024 * 1024;
  std::string folder{};   // working folder; empty: the project
  Milliseconds limit{0};  // how long it may take; 0: no limit
};
struct ScmAnswer {
  StepEnd end;
  std::string output, errors;
  bool cut = false;  // the output was truncated
};
Result<ScmAnswer> ask_scm(Run& run, const ScmQuestion& question);

// git within a run, for ralph's own queries (see own_call); `program` may be a path.
Git contained_git(Run& run, const std::string& program = "git", const std::string& work_tree = {});

// The same in another place, with additional environment variables.
Git contained_git(Run& run, GitPlace place, std::vector<std::pair<std::string, std::string>> environment);

}  // namespace ralph
