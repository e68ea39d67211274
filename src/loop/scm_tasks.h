// Running the SCM tasks of an iteration whose guardrails passed.
#pragma once

#include "agents/agent.h"
#include "loop/step.h"
#include "settings/settings.h"

namespace ralph {

struct ScmPlan {
  const ScmSettings& scm;
  bool events = true;  // whether the agent is asked for a stream of events, which tells what its answer cost
};

// Asks the agent for a commit message if a task needs one and there is something to commit, then runs the tasks in
// order. A task that fails ends the tasks, is recorded and shown, and does not end the run: the work itself is done.
// Returns a decision other than kContinue only if the run is to stop.
Result<Decision> run_scm_tasks(RunContext& context, const Agent& agent, const ScmPlan& plan);

}  // namespace ralph
