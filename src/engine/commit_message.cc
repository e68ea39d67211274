#include "engine/commit_message.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "json/value.h"

namespace ralph {
namespace {

bool is_stream_json(std::string_view line) {
  if (!line.starts_with('{') || !line.ends_with('}')) return false;
  const auto parsed = parse_json(line, "answer");
  return parsed && parsed->is_object();
}

// An empty answer: <response></response>.
bool is_empty_tag(std::string_view line) {
  constexpr std::string_view kOpen = "<response>", kClose = "</response>";
  if (line.size() < kOpen.size() + kClose.size()) return false;
  const std::string_view inside = line.substr(kOpen.size(), line.size() - kOpen.size() - kClose.size());
  return trim(inside).empty() && equals_ignoring_case(line.substr(0, kOpen.size()), kOpen) &&
         equals_ignoring_case(line.substr(line.size() - kClose.size()), kClose);
}

bool is_fence(std::string_view line) {
  return line.starts_with("```") || line.starts_with("~~~");
}

std::string_view without_quotes(std::string_view line) {
  for (std::string_view quote : {"\"", "'", "`", "**"}) {
    const bool quoted = line.size() > 2 * quote.size() && line.starts_with(quote) && line.ends_with(quote);
    if (quoted) return trim(line.substr(quote.size(), line.size() - 2 * quote.size()));
  }
  return line;
}

// Removes terminal escape sequences, such as colours: ESC [ parameters letter.
std::string without_escapes(std::string_view line) {
  std::string text;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line.substr(at).starts_with("\033[")) {
      at = std::min(line.find_first_not_of("0123456789;:?", at + 2), line.size());
    } else {
      text += line[at];
    }
  }
  return text;
}

std::string cleaned(std::string_view line) {
  std::string text = without_escapes(to_valid_utf8(line));
  text = without_quotes(trim(text));
  std::replace_if(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }, ' ');
  return std::string(trim(text));
}

}  // namespace

std::optional<std::string> commit_message_from(std::string_view answer, const std::optional<std::string>& tagged) {
  if (tagged) {
    if (std::string message = cleaned(*tagged); !message.empty()) return message;
  }
  for (const std::string& raw : split(answer, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || is_fence(line) || is_empty_tag(line) || is_stream_json(line)) continue;
    if (std::string message = cleaned(line); !message.empty()) return message;
  }
  return std::nullopt;
}

}  // namespace ralph
