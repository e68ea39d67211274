#include "base/time.h"

#include <cstdio>
#include <ctime>

#include <fmt/format.h>

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

std::optional<WallTime> from_iso8601(std::string_view text) {
  std::tm t{};
  int milliseconds = 0;
  char zone = 0;
  const std::string copy(text);
  const int read = std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3d%c", &t.tm_year, &t.tm_mon, &t.tm_mday,
                               &t.tm_hour, &t.tm_min, &t.tm_sec, &milliseconds, &zone);
  if (read != 8 || zone != 'Z') return std::nullopt;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  return WallTime(std::chrono::seconds(timegm(&t)) + Milliseconds(milliseconds));
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
