#include "ui/style.h"

#include "base/text.h"
#include "os/tty.h"

namespace ralph {
namespace {

bool locale_is_utf8(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto value = environment.get(name);
    if (!value || value->empty()) continue;  // the first one that is set decides, as in the C library
    const std::string locale = to_lower(*value);
    return contains(locale, "utf-8") || contains(locale, "utf8");
  }
  return false;
}

bool is_set(const Environment& environment, const char* name) {
  return !environment.get(name).value_or("").empty();
}

}  // namespace

std::string Style::paint(std::string_view code, std::string_view text) const {
  return color ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

Style style_for(int fd, const Environment& environment) {
  Style style;
  const bool dumb = environment.get("TERM").value_or("") == "dumb";
  const bool terminal = is_terminal(fd);
  style.terminal = terminal && !dumb;
  style.color = (style.terminal || is_set(environment, "CLICOLOR_FORCE")) && !is_set(environment, "NO_COLOR");
  style.unicode = locale_is_utf8(environment);
  style.width = terminal ? terminal_width(fd) : 100;
  return style;
}

}  // namespace ralph
