// Notes of a plan_checked record that more than one reader knows.
#pragma once

#include <string_view>

namespace ralph {

// Begins the one that says what sends a story back although its checks pass.
inline constexpr std::string_view kObjection = "the checks pass, but ";

}  // namespace ralph
