// Settings may hold secrets (agent.env); what is shown on a screen must not.
#pragma once

#include <string_view>

#include "base/json.h"

namespace ralph {

inline constexpr std::string_view kMasked = "***";

// By its name (API_KEY, GITHUB_TOKEN, DB_PASSWORD, ...) or by the shape of its value (sk-..., ghp_..., a private key).
bool looks_secret(std::string_view name, std::string_view value);

// The settings document with every secret-looking value of agent.env as ***.
json::value masked_settings(const json::value& settings);

}  // namespace ralph
