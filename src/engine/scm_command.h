// A command of the source control, contained like every other process of a run, its output in scm.log.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/step.h"
#include "engine/scm_argv.h"

namespace ralph {

struct ScmCommandEnd {
  StepEnd end;
  std::string output;  // both streams, the beginning of it
};

Result<ScmCommandEnd> run_scm_command(RunContext& context, const Argv& argv);

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
Result<ScmAnswer> ask_scm(RunContext& context, const ScmQuestion& question);

}  // namespace ralph
