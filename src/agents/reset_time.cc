// Parses the end of a limit from a sentence.
#include <algorithm>
#include <array>
#include <ctime>
#include <vector>

#include "agents/failure_from.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr size_t kNotFound = std::string_view::npos;

// The words, without the punctuation around them: "Nov", "16th", "2026", "3:33", "AM".
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& part : split(text, ' ')) {
    std::string_view word = trim(part);
    while (!word.empty() && contains(".,;()", word.back())) word.remove_suffix(1);
    if (!word.empty()) words.push_back(to_lower(word));
  }
  return words;
}

int month_of(std::string_view word) {
  static constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                               "jul", "aug", "sep", "oct", "nov", "dec"};
  const auto found = std::find(kMonths.begin(), kMonths.end(), word.substr(0, 3));
  return found == kMonths.end() ? -1 : static_cast<int>(found - kMonths.begin());
}

int leading_number(std::string_view word) {
  const std::string_view digits = word.substr(0, std::min(word.find_first_not_of("0123456789"), word.size()));
  const auto number = parse_count(digits);
  return number && *number < 10000 ? static_cast<int>(*number) : -1;
}

// "3:33", "am" -> hour and minute of the day.
bool read_clock(std::string_view time, std::string_view half, std::tm& result) {
  const size_t colon = time.find(':');
  if (colon == kNotFound) return false;
  const int hour = leading_number(time.substr(0, colon));
  const std::string_view minutes = time.substr(colon + 1);
  const int minute =
      minutes.starts_with("00") ? 0 : leading_number(minutes.starts_with('0') ? minutes.substr(1) : minutes);
  if (hour < 1 || hour > 12 || minute < 0 || minute > 59 || (half != "am" && half != "pm")) return false;
  result.tm_hour = hour % 12 + (half == "pm" ? 12 : 0);
  result.tm_min = minute;
  result.tm_sec = 59;  // the time is rounded down to the minute: the limit ends when that minute ends
  result.tm_isdst = -1;
  return true;
}

std::optional<WallTime> from_local(std::tm local) {
  return time_from_unix(std::mktime(&local));
}

// "Nov 16th, 2026 3:33 AM", or "3:33 AM". The latter means tomorrow if it is more than 12 hours ago; otherwise the
// limit may have just ended.
std::optional<WallTime> read_moment(std::string_view text, WallTime now) {
  const std::vector<std::string> words = words_of(text);
  const std::time_t today = std::chrono::system_clock::to_time_t(now);
  std::tm local{};
  if (!::localtime_r(&today, &local)) return std::nullopt;
  if (words.size() >= 2 && read_clock(words[0], words[1], local)) {
    const auto moment = from_local(local);
    if (!moment || *moment > now - std::chrono::hours(12)) return moment;
    ++local.tm_mday;
    return from_local(local);
  }
  if (words.size() < 5 || month_of(words[0]) < 0 || !read_clock(words[3], words[4], local)) return std::nullopt;
  local.tm_mon = month_of(words[0]);
  local.tm_mday = leading_number(words[1]);
  local.tm_year = leading_number(words[2]) - 1900;
  if (local.tm_mday < 1 || local.tm_mday > 31 || local.tm_year < 100) return std::nullopt;
  return from_local(local);
}

// "3 days 4 hours 5 minutes", "2 hours"
std::optional<WallTime> read_duration(std::string_view text, WallTime now) {
  static constexpr std::pair<std::string_view, std::chrono::seconds> kUnits[] = {{"day", std::chrono::hours(24)},
                                                                                 {"hour", std::chrono::hours(1)},
                                                                                 {"minute", std::chrono::minutes(1)},
                                                                                 {"second", std::chrono::seconds(1)}};
  const std::vector<std::string> words = words_of(text);
  std::chrono::seconds duration{0};
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const int count = leading_number(words[i]);
    const std::string_view unit = words[i + 1];
    const auto* const known = std::find_if(std::begin(kUnits), std::end(kUnits),
                                           [&](const auto& one) { return unit.starts_with(one.first); });
    if (count < 0 || known == std::end(kUnits)) break;
    duration += known->second * count;
  }
  return duration.count() > 0 ? std::optional<WallTime>(now + duration) : std::nullopt;
}

}  // namespace

std::optional<WallTime> reset_time_in(std::string_view message, WallTime now) {
  static constexpr std::string_view kAt = "again at ";
  static constexpr std::string_view kIn = "again in ";
  static constexpr std::string_view kReached = "limit reached|";
  if (const size_t at = message.find(kAt); at != kNotFound) return read_moment(message.substr(at + kAt.size()), now);
  if (const size_t at = message.find(kIn); at != kNotFound) return read_duration(message.substr(at + kIn.size()), now);
  if (const size_t at = message.find(kReached); at != kNotFound) {
    const std::string_view rest = message.substr(at + kReached.size());
    if (const auto seconds = parse_count(rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()))))
      return time_from_unix(*seconds);
  }
  return std::nullopt;
}

std::optional<WallTime> time_from_unix(long long seconds) {
  constexpr long long kYear5138 = 100'000'000'000;  // larger numbers are milliseconds, or nonsense
  if (seconds <= 0 || seconds >= kYear5138) return std::nullopt;
  return WallTime(std::chrono::seconds(seconds));
}

}  // namespace ralph
