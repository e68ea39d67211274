// A command of the source control, contained like every other process of a run, its output in scm.log.
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
  std::string output;  // both streams, the beginning of it
};

Result<ScmCommandEnd> run_scm_command(Run& run, const Argv& argv);

// A question, whose answer is read as data: warnings, which go to standard error, must not get into it.
struct ScmQuestion {
  Argv argv;
  std::vector<std::pair<std::string, std::string>> environment{};  // more of it
  size_t kept_output = 64 * 1024 * 1024;
};
struct ScmAnswer {
  StepEnd end;
  std::string output, errors;
  bool cut = false;  // there was more output than is kept
};
Result<ScmAnswer> ask_scm(Run& run, const ScmQuestion& question);

// git within a run; `program` may be a path. Optional locks are not taken: a person may be at work in the same tree.
Git contained_git(Run& run, const std::string& program = "git", const std::string& work_tree = {});

}  // namespace ralph
