// A command of the source control, contained like every other process of a run, its output in scm.log.
#pragma once

#include <string>

#include "loop/step.h"
#include "scm/tasks.h"

namespace ralph {

struct ScmCommandEnd {
  StepEnd end;
  std::string output;  // both streams, the beginning of it
};

Result<ScmCommandEnd> run_scm_command(RunContext& context, const Argv& argv, size_t kept_output = 16 * 1024);

}  // namespace ralph
