#include "ui/tool_output.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "ui/terminal_filter.h"

namespace ralph {
namespace {

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The final state of a redrawn line on a terminal.
std::string_view last_drawn(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const size_t redrawn = line.rfind('\r');
  return redrawn == std::string_view::npos ? line : line.substr(redrawn + 1);
}

// `room`: the number of characters that may be shown; reduced by the number shown.
std::string shown(std::string_view line, size_t& room) {
  // A line may have megabytes, so skip what can't be shown anyway, with a margin for control sequences.
  const std::string_view looked_at = line.substr(0, room * 4 + 4096);
  std::string plain = without_controls(looked_at);
  plain.resize(plain.find_last_not_of(" \t\r") + 1);
  const size_t whole = plain.size();
  plain.resize(prefix_of_characters(plain, room).size());
  room -= std::min(room, size_of(plain).characters);
  if (plain.size() < whole || looked_at.size() < line.size()) plain += "…";
  return replace_all(plain, "\t", "    ");  // a tab counts as one character, whatever its width
}

}  // namespace

Excerpt excerpt_of(std::string_view output, size_t max_lines, size_t max_characters) {
  // Drops blank lines, but keeps the indentation of the first line.
  const size_t first_word = output.find_first_not_of(" \t\r\n");
  if (first_word == std::string_view::npos) return {};
  const size_t line_start = output.rfind('\n', first_word);
  output.remove_prefix(line_start == std::string_view::npos ? 0 : line_start + 1);
  output = output.substr(0, output.find_last_not_of(" \t\r\n") + 1);

  Excerpt excerpt;
  max_characters = std::min<size_t>(max_characters, output.size());
  for (size_t room = max_characters; !output.empty() && room > 0 && excerpt.lines.size() < max_lines;) {
    excerpt.lines.push_back(shown(last_drawn(take_line(output)), room));
  }
  excerpt.more = size_of(output).lines;
  return excerpt;
}

}  // namespace ralph
