// A source control command, contained like every other process of a run; its output goes to scm.log.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/scm_argv.h"
#include "engine/step.h"
#include "git/git.h"

namespace ralph {

struct ScmCommandEnd {
  StepEnd end;
  std::string output;  // the beginning of both streams
};

// Looks up the program of the source control, once: an agent may put another one into a folder of PATH later.
void find_scm_program(Run& run);

Result<ScmCommandEnd> run_scm_command(Run& run, const Argv& argv);

// A query whose standard output is read as data, without the warnings on standard error.
struct ScmQuestion {
  Argv argv;
  std::vector<std::pair<std::string, std::string>> environment{};  // added to the run's
  size_t kept_output = 64 * 1024 * 1024;
  std::string folder{};   // where it runs; empty: the project
  Milliseconds limit{0};  // how long it may take; 0: no limit
};
struct ScmAnswer {
  StepEnd end;
  std::string output, errors;
  bool cut = false;  // the output was truncated
};
Result<ScmAnswer> ask_scm(Run& run, const ScmQuestion& question);

// git within a run, for ralph's own purposes (see own_call); `program` may be a path.
Git contained_git(Run& run, const std::string& program = "git", const std::string& work_tree = {});

// The same in another place, with more variables.
Git contained_git(Run& run, GitPlace place, std::vector<std::pair<std::string, std::string>> environment);

}  // namespace ralph
