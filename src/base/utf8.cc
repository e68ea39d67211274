#include "base/utf8.h"

#include <utf8proc.h>

namespace ralph {
namespace {

constexpr size_t kNoLimit = std::string_view::npos / 2;

struct Character {
  utf8proc_int32_t code;  // negative if invalid
  size_t bytes;
};

Character character_at(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {byte, 1};
  utf8proc_int32_t code = -1;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                      static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (bytes <= 0) return {-1, 1};
  return {code, static_cast<size_t>(bytes)};
}

// What a terminal takes as a command, or what shows text in another order than it has.
bool is_control(utf8proc_int32_t code) {
  if (code < 0) return false;
  const bool turns = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || turns;
}

size_t width_of(utf8proc_int32_t code) {
  if (code < 0) return 1;  // shown as a replacement character
  if (code < 0x20 || code == 0x7f) return 0;
  const int width = utf8proc_charwidth(code);
  return width > 0 ? static_cast<size_t>(width) : 0;
}

}  // namespace

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.code < 0) return at;
    at += c.bytes;
  }
  return std::string_view::npos;
}

std::string to_valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.code < 0) {
      valid += "\xEF\xBF\xBD";
    } else {
      valid.append(text, at, c.bytes);
    }
    at += c.bytes;
  }
  return valid;
}

std::string_view prefix_of_characters(std::string_view text, size_t characters) {
  size_t at = 0;
  for (; at < text.size() && characters > 0; --characters) at += character_at(text, at).bytes;
  return text.substr(0, at);
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    width += width_of(c.code);
    at += c.bytes;
  }
  return width;
}

std::string fit_to_width(std::string_view text, size_t columns) {
  std::string line;
  size_t width = 0;
  size_t last_cut = 0;  // bytes of `line` that leave room for the ellipsis
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const bool control = is_control(c.code);
    const size_t wide = control ? 1 : width_of(c.code);
    if (width + wide > columns) {
      line.resize(last_cut);
      return columns == 0 ? "" : line + "…";
    }
    width += wide;
    if (control) {
      line += ' ';
    } else if (c.code < 0) {
      line += "\xEF\xBF\xBD";
    } else {
      line.append(text, at, c.bytes);
    }
    if (width + 1 <= columns) last_cut = line.size();
    at += c.bytes;
  }
  return line;
}

std::string printable_lines(std::string_view text) {
  std::string lines;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines += fit_to_width(text.substr(0, end), kNoLimit) + '\n';
    text.remove_prefix(end + 1);
  }
  return lines + fit_to_width(text, kNoLimit);
}

}  // namespace ralph
