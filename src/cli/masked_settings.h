// Masks secrets in the environments of agents before settings are displayed. The journal's rule decides what is a
// secret.
#pragma once

#include "json/value.h"

namespace ralph::cli {

// The settings document with every secret-looking value of agent.env and of agents.*.env as ***.
json::value masked_settings(const json::value& settings);

}  // namespace ralph::cli
