// Notes of a plan_checked record that several readers recognise.
#pragma once

#include <string_view>

namespace ralph {

// The prefix of the note that says why a story is sent back although its checks pass.
inline constexpr std::string_view kObjection = "the checks pass, but ";

}  // namespace ralph
