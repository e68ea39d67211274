#include "loop/policy.h"

namespace ralph {
namespace {

Milliseconds from_seconds(double seconds) { return Milliseconds(static_cast<long long>(seconds * 1000)); }

}  // namespace

Policy policy_from(const Settings& settings) {
  Policy policy;
  policy.max_iterations = settings.maximum_iterations;
  policy.completion_response = settings.completion_response;
  policy.retry_attempts = settings.agent.retry.attempts;
  policy.retry_backoff = from_seconds(settings.agent.retry.backoff_seconds);
  policy.retry_max_backoff = from_seconds(settings.agent.retry.max_backoff_seconds);
  policy.agent_time_limit = from_seconds(settings.agent.timeout_seconds);
  policy.agent_idle_limit = from_seconds(settings.agent.idle_timeout_seconds);
  policy.run_time_limit = from_seconds(settings.budget.max_minutes * 60);
  return policy;
}

}  // namespace ralph
