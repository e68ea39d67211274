#include "task/yaml_lines.h"

#include <charconv>

#include "base/text.h"
#include "json/writer.h"

namespace ralph {
namespace {

bool is_plain_letter(char c) {
  return is_alphanumeric(c) || c == '_' || c == '-' || c == '.' || c == '/';
}

// Words that some parsers treat as a boolean or null.
bool has_another_meaning(std::string_view text) {
  return is_one_of(to_lower(text), {"true", "false", "yes", "no", "on", "off", "null", "y", "n"});
}

bool may_stand_unquoted(std::string_view text) {
  if (text.empty() || !is_alphanumeric(text[0]) || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text)
    if (!is_plain_letter(c)) return false;
  return !has_another_meaning(text);
}

Result<json::value> value_of(std::string_view text, std::string_view where) {
  if (text.empty() || text == "null" || text == "~") return json::value();
  if (text[0] == '"' || text[0] == '[') {
    TRY_VALUE(json::value parsed, parse_json(text, where));
    return parsed;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return json::value(number);
  if (contains(std::string_view("{}&*!|>'%@`#,?"), text[0]) || contains(text, ": ") || contains(text, " #"))
    return fail(ErrorKind::kInput, "{}: \"{}\" is not a value that ralph writes", where, text);
  return json::value(to_json_string(text));
}

}  // namespace

void YamlLines::plain(std::string_view key, std::string_view value) {
  text_ += fmt::format("{}: {}\n", key, value);
}

void YamlLines::text(std::string_view key, std::string_view value) {
  plain(key, may_stand_unquoted(value) ? std::string(value) : to_compact_json(json::value(to_json_string(value))));
}

void YamlLines::number(std::string_view key, std::int64_t value) {
  plain(key, std::to_string(value));
}

void YamlLines::time(std::string_view key, std::optional<WallTime> value) {
  plain(key, value ? to_iso8601(*value) : "null");
}

void YamlLines::list(std::string_view key, std::span<const std::string> values) {
  plain(key, to_compact_json(to_json_array(values)));
}

Result<json::object> parse_yaml_lines(std::string_view text, std::string_view where) {
  json::object object;
  size_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (trim(line).empty() || line[0] == '#') continue;
    const std::string place = fmt::format("{}:{}", where, number);
    const size_t colon = line.find(':');
    const std::string_view key = std::string_view(line).substr(0, std::min(colon, line.size()));
    if (colon == std::string::npos || !may_stand_unquoted(key))
      return fail(ErrorKind::kInput, "{}: expected \"key: value\"", place);
    TRY_VALUE(json::value value, value_of(trim(std::string_view(line).substr(colon + 1)), place));
    if (!object.emplace(key, std::move(value)).second) return fail(ErrorKind::kInput, "{}: {} is repeated", place, key);
  }
  return object;
}

}  // namespace ralph
