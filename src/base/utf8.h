// UTF-8: what is valid, where text may be cut, how wide it is on a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ralph {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// Whether this is a byte of a character, but not its first one.
constexpr bool is_inner_byte(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// The bytes of a character that begins with this one; 0 if none does.
constexpr size_t utf8_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xC2 ? 0 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 0;
}

struct Character {
  std::int32_t code;  // negative if these bytes are none
  size_t bytes;       // 1 if they are none
};

// The first character of `text`, which is not empty. The one decoder; in the header, as scanners call it for each.
constexpr Character first_character(std::string_view text) {
  const size_t length = utf8_length(text[0]);
  if (length == 1) return {text[0], 1};
  if (length == 0 || text.size() < length) return {-1, 1};
  std::int32_t code = static_cast<unsigned char>(text[0]) & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!is_inner_byte(text[i])) return {-1, 1};
    code = code << 6 | (text[i] & 0x3F);
  }
  const bool overlong = code < (length == 3 ? 0x800 : length == 4 ? 0x10000 : 0);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? Character{-1, 1} : Character{code, length};
}

// Writes a character, at most 4 bytes, and returns where they end; U+FFFD for a number that is none.
char* put_utf8(char* out, unsigned long code);
void append_utf8(std::string& out, unsigned long code);

// How many bytes at the end of `text` begin a character whose rest may follow; at most 3.
size_t unfinished_utf8(std::string_view text);

// The offset of the first byte that is not valid UTF-8, or npos if all of it is.
size_t find_invalid_utf8(std::string_view text);

// Every invalid byte becomes U+FFFD. Valid text comes back unchanged.
std::string to_valid_utf8(std::string_view text);

// The first `characters` characters (code points) of `text`; invalid bytes count as one character each.
std::string_view prefix_of_characters(std::string_view text, size_t characters);

// Columns that `text` takes on a terminal: 2 for wide CJK and emoji, 0 for combining marks and control characters.
size_t display_width(std::string_view text);

// `text` on one line in at most `columns` columns, with "…" at the end when something was cut. Control characters are
// shown as blanks, so that nothing printed through it can move a cursor, turn the direction of writing or change a
// terminal.
std::string fit_to_width(std::string_view text, size_t columns);

// The same for text of several lines: nothing is cut, and line ends stay.
std::string printable_lines(std::string_view text);

}  // namespace ralph
