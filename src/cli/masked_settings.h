// Settings may hold secrets in the environments of agents; what is shown on a screen must not. What is a secret is the
// journal's rule, here as everywhere.
#pragma once

#include <string_view>

#include "json/value.h"

namespace ralph::cli {

inline constexpr std::string_view kMasked = "***";

// The settings document with every secret-looking value of agent.env and of agents.*.env as ***.
json::value masked_settings(const json::value& settings);

}  // namespace ralph::cli
