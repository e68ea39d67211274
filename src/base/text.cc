#include "base/text.h"

#include <charconv>
#include <cmath>
#include <numeric>

namespace ralph {
namespace {

constexpr std::string_view kBlank = " \t\r\n\v\f";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool is_plain_word(std::string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](char c) { return is_alphanumeric(c) || contains("_-./=:,@%+", c); });
}

}  // namespace

std::string_view trim(std::string_view text) {
  const size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlank) - from + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator, from)) {
    parts.emplace_back(text.substr(from, at - from));
    from = at + 1;
  }
  parts.emplace_back(text.substr(from));
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != parts.data()) joined += separator;
    joined += part;
  }
  return joined;
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::string to_upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), upper);
  return result;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

bool is_listed(std::string_view list, std::string_view word) {
  // By hand: this runs dozens of times for each command of a line, and library calls cost more than these few
  // characters.
  if (word.empty() || contains(word, ' ')) return false;
  for (size_t at = 0; at + word.size() <= list.size(); ++at) {
    const size_t end = at + word.size();
    if (list[at] == word[0] && (end == list.size() || list[end] == ' ') && list.substr(at, word.size()) == word)
      return true;
    while (at < list.size() && list[at] != ' ') ++at;
  }
  return false;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view one) { return text.starts_with(one); });
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool contains(std::string_view text, char c) {
  return text.find(c) != std::string_view::npos;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  size_t start = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, start)) {
    result.append(text, start, at - start).append(to);
    start = at + from.size();
  }
  return result.append(text.substr(start));
}

int hex_digit(char c) {
  const size_t digit = std::string_view("0123456789abcdef").find(lower(c));
  return digit == std::string_view::npos ? -1 : static_cast<int>(digit);
}

std::string_view first_line(std::string_view text) {
  text = trim(text);
  return trim(text.substr(0, text.find('\n')));
}

std::optional<long> parse_count(std::string_view text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

Result<std::vector<std::string>> split_shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      in_word = true;
      size_t j = i + 1;
      for (; j < text.size() && text[j] != c; ++j) {
        const bool escaped = c == '"' && text[j] == '\\' && j + 1 < text.size() && contains("\\\"$`", text[j + 1]);
        word += text[escaped ? ++j : j];
      }
      if (j >= text.size()) return fail(ErrorKind::kInput, "unclosed {} in: {}", c, text);
      i = j;
    } else if (c == '\\' && i + 1 < text.size()) {
      in_word = true;
      word += text[++i];
    } else if (contains(kBlank, c)) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      in_word = true;
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::string quote_shell_words(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (&word != words.data()) line += ' ';
    line += is_plain_word(word) ? word : "'" + replace_all(word, "'", "'\\''") + "'";
  }
  return line;
}

// Counts swapping two neighbours, a common typo, as one step.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = row[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      next[j] = std::min({replace, row[j] + 1, next[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    size_t distance = edit_distance(word, candidate);
    // A prefix means the longer word: "--prompt-f" is "--prompt-file".
    if (word.size() >= 3 && candidate.starts_with(word)) distance = std::min<size_t>(distance, 1);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string human_bytes(unsigned long long bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::string_view unit;
  for (std::string_view next : {"KB", "MB", "GB", "TB"}) {
    if (value < 999.95) break;  // instead of 1000.0, show 1.0 of the next unit
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string join_for_people(std::span<const std::string> parts) {
  if (parts.size() < 2) return parts.empty() ? "" : parts[0];
  return join(parts.first(parts.size() - 1), ", ") + " and " + parts.back();
}

std::string human_cost(double usd) {
  if (!std::isfinite(usd) || usd <= 0) return "$0.00";
  if (usd < 0.00005) return "<$0.0001";
  return usd < 0.00995 ? fmt::format("${:.4f}", usd) : fmt::format("${:.2f}", usd);
}

std::string count_of(unsigned long long n, std::string_view noun) {
  if (n == 1) return fmt::format("1 {}", noun);
  if (noun.ends_with("s") || noun.ends_with("x") || noun.ends_with("ch") || noun.ends_with("sh"))
    return fmt::format("{} {}es", n, noun);
  const bool ies = noun.size() > 1 && noun.back() == 'y' && !contains("aeiou", noun[noun.size() - 2]);
  return ies ? fmt::format("{} {}ies", n, noun.substr(0, noun.size() - 1)) : fmt::format("{} {}s", n, noun);
}

}  // namespace ralph
