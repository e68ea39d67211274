// Human-readable counts and times.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace ralph {

std::string human_count(std::int64_t count);  // 999, 1.2K, 45K, 850K, 1.2M

// In local time.
std::string time_of_day(WallTime time);             // 20:22:33
std::string moment(WallTime time, WallTime today);  // 20:22, or 2026-11-16 20:22 on another day

}  // namespace ralph
