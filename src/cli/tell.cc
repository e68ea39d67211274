#include "cli/tell.h"

#include <algorithm>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "os/files.h"
#include "os/tty.h"

namespace ralph::cli {
namespace {

// The blank to break at: the last one that fits into `columns`, or else the first one after. The search starts at
// `from`, after the indentation.
size_t break_in(std::string_view line, size_t from, size_t columns) {
  size_t best = std::string_view::npos;
  for (size_t at = line.find(' ', from); at != std::string_view::npos; at = line.find(' ', at + 1)) {
    if (best != std::string_view::npos && display_width(line.substr(0, at)) > columns) break;
    best = at;
  }
  return best;
}

}  // namespace

std::string wrap_line(std::string_view line, size_t columns) {
  const size_t lead = std::min(line.find_first_not_of(' '), line.size());
  const std::string indent(lead + 2, ' ');
  std::string broken;
  std::string rest(line);
  size_t from = lead;
  while (display_width(rest) > columns) {
    const size_t at = break_in(rest, from, columns);
    if (at == std::string_view::npos) break;
    broken += rest.substr(0, at) + "\n";
    rest = indent + rest.substr(at + 1);
    from = std::min(rest.find_first_not_of(' '), rest.size());
  }
  return broken + rest;
}

void tell(std::string_view lines) {
  std::string text = printable_lines(lines);
  if (is_terminal(STDERR_FILENO)) {
    const size_t columns = terminal_width(STDERR_FILENO);
    std::vector<std::string> shown = split(text, '\n');
    for (std::string& line : shown) line = wrap_line(line, columns);
    text = join(shown, "\n");
  }
  static_cast<void>(write_all(STDERR_FILENO, text, "standard error"));
}

}  // namespace ralph::cli
