// The style of output: colour, symbols, width. Decided once, from the terminal and the environment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "os/environment.h"

namespace ralph {

struct Style {
  bool terminal = false;  // lines may be rewritten
  bool color = false;
  bool unicode = false;
  size_t width = 80;

  std::string_view ok() const { return unicode ? "✔" : "[OK]"; }
  std::string_view error() const { return unicode ? "✘" : "[ERR]"; }
  std::string_view note() const { return unicode ? "•" : "[--]"; }
  std::string_view step() const { return unicode ? "▶" : "==>"; }
  std::string_view begin() const { return unicode ? "…" : "..."; }
  std::string_view again() const { return unicode ? "↻" : "[..]"; }
  std::string_view dot() const { return unicode ? " · " : ", "; }

  std::string green(std::string_view text) const { return paint("32", text); }
  std::string red(std::string_view text) const { return paint("31", text); }
  std::string yellow(std::string_view text) const { return paint("33", text); }
  std::string cyan(std::string_view text) const { return paint("36", text); }
  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string dim(std::string_view text) const { return paint("2", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const;
};

// Uses colour on a terminal unless NO_COLOR is set or TERM is dumb, and elsewhere only with CLICOLOR_FORCE. Uses
// Unicode if the locale is UTF-8.
Style style_for(int fd, const Environment& environment);

}  // namespace ralph
