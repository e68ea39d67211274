// Masks secrets in the environments of agents before settings are displayed, by the same rule as the journal.
#pragma once

#include "json/value.h"

namespace ralph::cli {

// The settings document with every secret-looking value of agent.env and agents.*.env replaced by ***.
json::value masked_settings(const json::value& settings);

}  // namespace ralph::cli
