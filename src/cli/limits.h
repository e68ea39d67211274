// The limits of a run as options, shared by all commands that run agents.
#pragma once

#include <array>

#include "cli/command.h"
#include "settings/settings.h"

namespace ralph::cli {

inline constexpr std::array kLimitOptions = {
    on_resume({"max-cost", 0, "USD", "Stop when the run has cost this much (default: budget.maxCostUsd)."}),
    on_resume({"max-tokens", 0, "N", "Stop when the run has used this many tokens (default: budget.maxTokens)."}),
    on_resume({"max-minutes", 0, "N", "Stop when the run has taken this long (default: budget.maxMinutes)."}),
};

// Sets /budget/... in `overrides` to what was given.
Status set_limits(const Arguments& arguments, Overrides& overrides);

// Sets `pointer` to the whole number given with the option.
Status set_count(const Arguments& arguments, std::string_view option, const std::string& pointer, Overrides& overrides);

}  // namespace ralph::cli
