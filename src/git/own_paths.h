// Which paths of a work tree are ralph's own: they are nobody's uncommitted work.
#pragma once

#include <array>
#include <string_view>

namespace ralph {

inline constexpr std::string_view kMarkerFile = ".ralph-active";

// What ralph takes away from an agent is kept beside the file that it was, under a name with this in it.
inline constexpr std::string_view kRejected = ".rejected-";
inline constexpr std::array<std::string_view, 4> kRejectable = {kMarkerFile, "tasks.json", "prd.md", "prompt.md"};

// Its marker, its folder, and what it keeps beside the files of a plan.
bool is_own_path(std::string_view path);

}  // namespace ralph
