#include "engine/policy.h"

#include <algorithm>
#include <cmath>

namespace ralph {
namespace {

Milliseconds from_seconds(double seconds) {
  return Milliseconds(std::llround(seconds * 1000));
}

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
  policy.max_cost_usd = settings.budget.max_cost_usd;
  policy.max_tokens = static_cast<std::int64_t>(settings.budget.max_tokens);
  policy.protect = settings.protect;
  for (const GuardrailSettings& guardrail : settings.guardrails) policy.check_commands.push_back(guardrail.command);
  if (settings.scm) policy.scm_command = settings.scm->command;
  policy.diagnostics = settings.diagnostics;
  if (settings.diagnostics.criteria) {
    for (const CollectorSettings& own : settings.diagnostics.collectors) policy.check_commands.push_back(own.command);
  }
  policy.max_stream_bytes = static_cast<std::int64_t>(settings.journal.max_stream_mb * 1024 * 1024);
  policy.linger_limit = from_seconds(settings.agent.linger_seconds);
  policy.max_limit_wait = from_seconds(settings.agent.max_limit_wait_minutes * 60);
  policy.overload_retries = settings.agent.retry.overload_attempts;
  // Twice the back-off after a crash, and at least a second unless back-off is disabled.
  policy.overload_backoff =
      std::max(policy.retry_backoff * 2, Milliseconds(settings.agent.retry.backoff_seconds > 0 ? 1000 : 0));
  return policy;
}

Policy task_policy_from(const Settings& settings) {
  const TaskSettings& task = settings.task;
  Policy policy = policy_from(settings);
  policy.task = true;
  policy.check_commands.clear();  // a task runs none: only DONE counts
  policy.retry_attempts = 1;      // a failed attempt is restarted as the next iteration
  policy.max_iterations = task.max_restarts;
  policy.restart_delay = from_seconds(task.restart_delay_seconds);
  policy.child_wait = from_seconds(task.child_wait_seconds);
  policy.done_grace = from_seconds(task.done_grace_seconds);
  policy.file_poll = from_seconds(task.poll_seconds);
  if (task.idle_timeout_seconds) policy.agent_idle_limit = from_seconds(*task.idle_timeout_seconds);
  if (task.run_timeout_seconds) policy.agent_time_limit = from_seconds(*task.run_timeout_seconds);
  return policy;
}

}  // namespace ralph
