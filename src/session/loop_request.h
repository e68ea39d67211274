// The parameters of a session loop.
#pragma once

#include <string>

#include "engine/policy.h"
#include "journal/fields.h"

namespace ralph {

struct LoopRequest {
  std::string task;
  std::string promise = "DONE";
  int max_iterations = 50;
  int min_tool_calls = 1;
  PromiseWithoutWork on_promise_no_work = PromiseWithoutWork::kReject;
  bool ultrawork = false;
  template <class V>
  void fields(V&& v) {
    v("task", task), v("completionPromise", promise), v("maxIterations", max_iterations);
    v("minToolCalls", min_tool_calls), v("onPromiseNoWork", on_promise_no_work), v("ultrawork", ultrawork);
  }
};

// `policy` with the rules of such a loop.
inline Policy policy_of(const LoopRequest& request, Policy policy = {}) {
  policy.max_iterations = request.max_iterations;
  policy.promise = true;
  policy.completion_response = request.promise;
  policy.min_tool_calls = request.min_tool_calls;
  policy.on_promise_no_work = request.on_promise_no_work;
  return policy;
}

}  // namespace ralph
