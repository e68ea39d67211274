// Runs the SCM tasks of an iteration whose guardrails passed.
#pragma once

#include <functional>

#include "agents/agent.h"
#include "engine/step.h"
#include "settings/settings.h"

namespace ralph {

struct ScmPlan {
  const ScmSettings& scm;
  bool events = true;  // ask the agent for a stream of events, which includes the cost of its answer
  std::function<Result<Decision>()> check_again{};  // runs the guardrails again; empty: no guardrails
  std::function<Status()> before_task{};            // called before each task: only the user's own hooks may run
  // Why a push, with these words after it, must not run; empty: it may.
  std::function<Result<std::string>(const std::vector<std::string>& words)> why_not_push{};
};

// Asks the agent for a commit message if a task needs one and there is something to commit, then runs the tasks in
// order. A failing task ends the tasks and is recorded and shown. Unless its failure is to be ignored, it is included
// in the next prompt, and the run is not complete until the task succeeds: every iteration whose guardrails pass tries
// all tasks. If the agent changes files during that request, or a hook does during a commit, the guardrails run again.
// If they fail, no more tasks run, and the failures go into the run's progress. Returns a decision other than kContinue
// only if the run must stop.
Result<Decision> run_scm_tasks(Run& run, const Agent& agent, const ScmPlan& plan);

}  // namespace ralph
