#include "base/time.h"

#include <fmt/format.h>

#include <ctime>

namespace ralph {
namespace {

std::tm to_utc(WallTime time) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

std::string to_iso8601(WallTime time) {
  const std::tm t = to_utc(time);
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour,
                     t.tm_min, t.tm_sec, (time - whole).count());
}

std::string to_compact_utc(WallTime time) {
  const std::tm t = to_utc(time);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min,
                     t.tm_sec);
}

std::string human_duration(Milliseconds duration) {
  const long long tenths = (duration.count() + 50) / 100;
  if (tenths < 600) return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  const long long seconds = (duration.count() + 500) / 1000;
  if (seconds < 3600) return fmt::format("{}m{}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

}  // namespace ralph
