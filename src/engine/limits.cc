#include "engine/limits.h"

#include <algorithm>

namespace ralph {
namespace {

constexpr Milliseconds kAgainAfter = std::chrono::seconds(30);
constexpr Milliseconds kAgainAtMost = std::chrono::minutes(10);
constexpr Milliseconds kUnknownAtMost = std::chrono::hours(1);

Milliseconds doubled(Milliseconds wait, int times, Milliseconds until) {
  for (int i = 0; i < times && wait < until; ++i) wait *= 2;
  return wait;
}

bool is_free(const Policy& policy, const Progress& progress, const std::string& agent, WallTime now) {
  const auto limit = progress.limited.find(agent);
  return limit == progress.limited.end() || available_again_at(policy, limit->second) <= now;
}

}  // namespace

WallTime available_again_at(const Policy& policy, const Progress::Limit& limit) {
  if (!limit.until) return limit.met + doubled(policy.unknown_limit_wait, limit.times - 1, kUnknownAtMost);
  if (limit.times == 1) return *limit.until;
  // If a limit is hit again after its announced end, the agent is not retried immediately: that could go on all night.
  return std::max(*limit.until, limit.met + doubled(kAgainAfter, limit.times - 2, kAgainAtMost));
}

size_t agent_to_ask(const Policy& policy, const Progress& progress, WallTime now) {
  const auto& agents = policy.agents;
  const auto free = std::find_if(agents.begin(), agents.end(),
                                 [&](const std::string& agent) { return is_free(policy, progress, agent, now); });
  return free == agents.end() ? 0 : static_cast<size_t>(free - agents.begin());
}

std::optional<WallTime> all_limited_until(const Policy& policy, const Progress& progress, WallTime now) {
  std::optional<WallTime> soonest;
  for (const std::string& agent : policy.agents) {
    if (is_free(policy, progress, agent, now)) return std::nullopt;
    const WallTime until = available_again_at(policy, progress.limited.at(agent));
    soonest = soonest ? std::min(*soonest, until) : until;
  }
  return soonest;
}

}  // namespace ralph
