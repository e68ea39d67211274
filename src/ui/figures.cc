#include "ui/figures.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace ralph {
namespace {

std::tm local_parts(WallTime time) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

std::string human_count(std::int64_t count) {
  if (count < 1000) return fmt::format("{}", std::max<std::int64_t>(count, 0));
  double value = static_cast<double>(count);
  for (const char unit : {'K', 'M', 'B'}) {
    value /= 1000;
    const double tenths = std::round(value * 10);
    if (tenths < 100) {
      const auto whole = static_cast<int>(tenths);
      return whole % 10 == 0 ? fmt::format("{}{}", whole / 10, unit)
                             : fmt::format("{}.{}{}", whole / 10, whole % 10, unit);
    }
    // 999,999 is 1M, not 1000K, so the unit is chosen after rounding.
    if (std::round(value) < 1000 || unit == 'B') return fmt::format("{:.0f}{}", std::round(value), unit);
  }
  return {};
}

std::string time_of_day(WallTime time) {
  const std::tm t = local_parts(time);
  return fmt::format("{:02}:{:02}:{:02}", t.tm_hour, t.tm_min, t.tm_sec);
}

std::string moment(WallTime time, WallTime today) {
  const std::tm t = local_parts(time), now = local_parts(today);
  const std::string hour = fmt::format("{:02}:{:02}", t.tm_hour, t.tm_min);
  if (t.tm_year == now.tm_year && t.tm_yday == now.tm_yday) return hour;
  return fmt::format("{:04}-{:02}-{:02} {}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, hour);
}

}  // namespace ralph
