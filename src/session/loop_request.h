// The parameters of a session loop.
#pragma once

#include <string>
#include <vector>

#include "engine/policy.h"
#include "journal/fields.h"

namespace ralph {

struct LoopRequest {
  std::string task;
  std::vector<std::string> paths{};  // what it is about; empty: anything
  std::string promise = "DONE";
  int max_iterations = 100;
  int min_tool_calls = 1;
  int stagnation_limit = 3;  // continuations in a row without a tool call; 0: none
  PromiseWithoutWork on_promise_no_work = PromiseWithoutWork::kReject;
  bool ultrawork = false;
  template <class V>
  void fields(V&& v) {
    v("task", task), v("paths", paths), v("completionPromise", promise), v("maxIterations", max_iterations);
    v("minToolCalls", min_tool_calls), v("onPromiseNoWork", on_promise_no_work), v("stagnationLimit", stagnation_limit);
    v("ultrawork", ultrawork);
  }
};

// `policy` with the rules of such a loop.
inline Policy policy_of(const LoopRequest& request, Policy policy = {}) {
  policy.max_iterations = request.max_iterations;
  policy.promise = true;
  policy.completion_response = request.promise;
  policy.min_tool_calls = request.min_tool_calls;
  policy.stagnation_limit = request.stagnation_limit;
  policy.on_promise_no_work = request.on_promise_no_work;
  return policy;
}

}  // namespace ralph
