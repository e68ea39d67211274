#include "base/time.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace ralph {
namespace {

// Not gmtime_r, which first reads the local time zone file.
struct Utc {
  explicit Utc(WallTime time)
      : date(std::chrono::floor<std::chrono::days>(time)), clock(time - std::chrono::floor<std::chrono::days>(time)) {}

  int year() const { return static_cast<int>(date.year()); }
  unsigned month() const { return static_cast<unsigned>(date.month()); }
  unsigned day() const { return static_cast<unsigned>(date.day()); }
  long long hour() const { return clock.hours().count(); }
  long long minute() const { return clock.minutes().count(); }
  long long second() const { return clock.seconds().count(); }
  long long millisecond() const { return clock.subseconds().count(); }

  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<Milliseconds> clock;
};

}  // namespace

std::string to_iso8601(WallTime time) {
  const Utc t(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", t.year(), t.month(), t.day(), t.hour(), t.minute(),
                     t.second(), t.millisecond());
}

std::optional<WallTime> from_iso8601(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    if (kForm[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != kForm[i]) return std::nullopt;
  }
  const auto number = [&](size_t at, size_t digits) {
    int value = 0;
    for (const char digit : text.substr(at, digits)) value = value * 10 + (digit - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return WallTime(std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(hour) +
                  std::chrono::minutes(minute) + std::chrono::seconds(second) + Milliseconds(number(20, 3)));
}

std::string to_compact_utc(WallTime time) {
  const Utc t(time);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", t.year(), t.month(), t.day(), t.hour(), t.minute(), t.second());
}

std::string human_duration(Milliseconds duration) {
  const long long tenths = (duration.count() + 50) / 100;
  if (tenths < 600) return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  const long long seconds = (duration.count() + 500) / 1000;
  if (seconds < 3600) return fmt::format("{}m{}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

std::optional<Milliseconds> parse_duration(std::string_view text) {
  constexpr double kMost = 10.0 * 365 * 24 * 3600 * 1000;
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 3.6e6}};
  if (text.empty()) return std::nullopt;
  double sum = 0;
  while (!text.empty()) {
    if (text[0] < '0' || text[0] > '9') return std::nullopt;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const size_t length = std::min(text.find_first_of("0123456789"), text.size());
    const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                   [&](const auto& one) { return one.first == text.substr(0, length); });
    if (unit == std::end(kUnits)) return std::nullopt;
    sum += number * unit->second;
    if (!(sum <= kMost)) return std::nullopt;
    text.remove_prefix(length);
  }
  return Milliseconds(std::llround(sum));
}

}  // namespace ralph
