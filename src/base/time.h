// Time as values. Nothing here reads a clock: that is os/clock.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ralph {

using Milliseconds = std::chrono::milliseconds;

// Wall-clock time in milliseconds since 1970, UTC.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Milliseconds>;
// Time that never jumps, for durations and deadlines.
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, Milliseconds>;

std::string to_iso8601(WallTime time);              // 2026-11-15T20:22:33.123Z
std::string to_compact_utc(WallTime time);          // 20261115-202233
std::string human_duration(Milliseconds duration);  // 0.4s, 12.3s, 6m7s, 1h02m

// Parses exactly the form that to_iso8601 writes; nullopt for any other form or a nonexistent day or hour. Leap seconds
// (23:59:60) are rejected: no clock that ralph reads shows them.
std::optional<WallTime> from_iso8601(std::string_view text);

// A duration as people type it: "10ms", "5s", "1.5m", "2h", or several parts, "1m30s". nullopt for anything else, for a
// number without a unit, and for more than ten years.
std::optional<Milliseconds> parse_duration(std::string_view text);

}  // namespace ralph
