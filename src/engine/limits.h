// Usage limits of agents: when a limited agent may be started again, and which agent works in the meantime.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/policy.h"
#include "engine/progress.h"

namespace ralph {

// When the agent with this limit may be started again.
WallTime available_again_at(const Policy& policy, const Progress::Limit& limit);

// The index in the policy of the agent to start now: the first one that is not limited, or the preferred one if all
// are.
size_t agent_to_ask(const Policy& policy, const Progress& progress, WallTime now);

// When the first limited agent is free again; nullopt if an agent is free now.
std::optional<WallTime> all_limited_until(const Policy& policy, const Progress& progress, WallTime now);

}  // namespace ralph
