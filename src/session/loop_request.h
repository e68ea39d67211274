// The parameters of a session loop.
#pragma once

#include <string>
#include <vector>

#include "checks/diagnostics/snapshot.h"
#include "engine/policy.h"
#include "json/fields.h"

namespace ralph {

struct LoopRequest {
  std::string task;
  std::vector<std::string> paths{};  // what the task is about, relative to the project; empty: anything
  std::string promise = "DONE";
  int max_iterations = 100;
  int min_tool_calls = 1;
  int stagnation_limit = 3;  // continuations in a row without a tool call; 0: none
  PromiseWithoutWork on_promise_no_work = PromiseWithoutWork::kReject;
  bool ultrawork = false;
  std::vector<std::string> checks{};  // commands that must exit 0 before it is complete
  bool no_promise = false;            // complete as soon as the checks pass
  // Criteria for the findings of the project's tools. The tools do not run if none is set.
  bool zero_errors = false, zero_warnings = false, zero_security = false, tests_pass = false;

  bool has_criteria() const { return zero_errors || zero_warnings || zero_security || tests_pass; }
  diagnostics::Criteria criteria() const {
    return {zero_errors, zero_warnings, zero_security, tests_pass, stagnation_limit};
  }
  int checks_in_all() const { return static_cast<int>(checks.size()) + (has_criteria() ? 1 : 0); }

  template <class V>
  void fields(V&& v) {
    v("task", task), v("paths", paths), v("completionPromise", promise), v("maxIterations", max_iterations);
    v("minToolCalls", min_tool_calls), v("onPromiseNoWork", on_promise_no_work), v("stagnationLimit", stagnation_limit);
    v("ultrawork", ultrawork), v("checks", checks), v("noPromise", no_promise);
    v("zeroErrors", zero_errors), v("zeroWarnings", zero_warnings), v("zeroSecurity", zero_security);
    v("testsPass", tests_pass);
  }
};

// `policy` with the rules of this loop.
inline Policy policy_of(const LoopRequest& request, Policy policy = {}) {
  policy.max_iterations = request.max_iterations;
  policy.promise = true;
  policy.completion_response = request.promise;
  policy.min_tool_calls = request.min_tool_calls;
  policy.stagnation_limit = request.stagnation_limit;
  policy.on_promise_no_work = request.on_promise_no_work;
  policy.checks = request.checks_in_all();
  policy.needs_promise = !request.no_promise;
  policy.check_commands = request.checks;
  policy.targets = request.paths;
  // The settings' criteria are only for prompt, plan and task runs.
  policy.diagnostics.criteria.reset();
  if (request.has_criteria())
    policy.diagnostics.criteria = CriteriaSettings{request.zero_errors, request.zero_warnings, request.zero_security,
                                                   request.tests_pass, request.stagnation_limit};
  return policy;
}

}  // namespace ralph
