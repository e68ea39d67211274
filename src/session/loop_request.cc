#include "session/loop_request.h"

namespace ralph {

Policy policy_of(const LoopRequest& request, Policy policy) {
  policy.max_iterations = request.max_iterations;
  policy.promise = true;
  policy.completion_response = request.promise;
  policy.min_tool_calls = request.min_tool_calls;
  policy.on_promise_no_work = request.on_promise_no_work;
  return policy;
}

}  // namespace ralph
