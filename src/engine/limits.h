// Usage limits of agents: from when on a limited one may be asked again, and who is asked meanwhile.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/policy.h"
#include "engine/progress.h"

namespace ralph {

// From when on the agent with this limit may be asked again.
WallTime free_from(const Policy& policy, const Progress::Limit& limit);

// Which of the policy's agents to start now: the first that is not limited; the preferred one if all are.
size_t agent_to_ask(const Policy& policy, const Progress& progress, WallTime now);

// When the first of the limited agents is free; nothing if one is free now.
std::optional<WallTime> all_limited_until(const Policy& policy, const Progress& progress, WallTime now);

}  // namespace ralph
