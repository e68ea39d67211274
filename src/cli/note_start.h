// The first records of a process that works on a run: who started what, and what a killed process had left behind.
#pragma once

#include <string>

#include "cli/start_run.h"

namespace ralph::cli {

struct RunTitle {
  WayIn way;
  std::string agent, prompt_source, prompt;
  Agents agents{};  // all that the run may start
};

// Called by the body of a run once it knows its agents. What a killed process left is ended and recorded too.
Status note_start(Run& run, const RunSetup& setup, const RunTitle& title);

// Records the sandbox that the run's programs are in, if there is one.
Status note_shelter(Run& run);

}  // namespace ralph::cli
