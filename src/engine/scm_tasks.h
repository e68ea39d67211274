// Running the SCM tasks of an iteration whose guardrails passed.
#pragma once

#include <functional>

#include "agents/agent.h"
#include "engine/step.h"
#include "settings/settings.h"

namespace ralph {

struct ScmPlan {
  const ScmSettings& scm;
  bool events = true;  // whether the agent is asked for a stream of events, which tells what its answer cost
  std::function<Result<Decision>()> check_again{};  // runs the guardrails once more; none: there are no guardrails
};

// Asks the agent for a commit message if a task needs one and there is something to commit, then runs the tasks in
// order. A task that fails ends the tasks, is recorded and shown, and does not end the run: the work itself is done.
// What the agent changes when it is asked, or a hook when something is committed, was not checked: then the guardrails
// run again, and if they fail nothing more is done here; the log's progress has what failed. Returns a decision other
// than kContinue only if the run is to stop.
Result<Decision> run_scm_tasks(Run& run, const Agent& agent, const ScmPlan& plan);

}  // namespace ralph
