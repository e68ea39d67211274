// Which paths of a work tree are ralph's own and do not count as uncommitted work.
#pragma once

#include <array>
#include <string_view>

namespace ralph {

inline constexpr std::string_view kMarkerFile = ".ralph-active";

// Content that ralph takes away from an agent is kept next to the original file, with this in its name.
inline constexpr std::string_view kRejected = ".rejected-";
inline constexpr std::array<std::string_view, 5> kRejectable = {kMarkerFile, "tasks.json", "prd.md", "prompt.md",
                                                                "progress.txt"};

// The marker, the folder .ralph, and what ralph keeps next to a plan's files.
bool is_own_path(std::string_view path);

}  // namespace ralph
