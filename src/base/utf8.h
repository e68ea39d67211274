// UTF-8: validity, where text may be cut, display width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ralph {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// Whether this is a continuation byte.
constexpr bool is_continuation_byte(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// The length of a character that starts with this byte; 0 if none does.
constexpr size_t utf8_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xC2 ? 0 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 0;
}

struct Character {
  std::int32_t code;  // negative if invalid
  size_t bytes;       // 1 if invalid
};

// The first character of `text`, which is not empty. Inline because scanners call it for each character.
constexpr Character first_character(std::string_view text) {
  const size_t length = utf8_length(text[0]);
  if (length == 1) return {text[0], 1};
  if (length == 0 || text.size() < length) return {-1, 1};
  std::int32_t code = static_cast<unsigned char>(text[0]) & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation_byte(text[i])) return {-1, 1};
    code = code << 6 | (text[i] & 0x3F);
  }
  const bool overlong = code < (length == 3 ? 0x800 : length == 4 ? 0x10000 : 0);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? Character{-1, 1} : Character{code, length};
}

// Writes a character, at most 4 bytes, and returns the end; U+FFFD for an invalid code point.
char* put_utf8(char* out, unsigned long code);
void append_utf8(std::string& out, unsigned long code);

// How many bytes at the end of `text` are the beginning of an incomplete character; at most 3.
size_t unfinished_utf8(std::string_view text);

// The offset of the first byte that is not valid UTF-8; npos if there is none.
size_t find_invalid_utf8(std::string_view text);

// Replaces every invalid byte with U+FFFD. Valid text is returned unchanged.
std::string to_valid_utf8(std::string_view text);

// The first `characters` characters (code points) of `text`; invalid bytes count as one character each.
std::string_view prefix_of_characters(std::string_view text, size_t characters);

// A last line without a line ending counts too. Characters are counted by their first bytes.
struct TextSize {
  size_t lines = 0;
  size_t characters = 0;
};
TextSize size_of(std::string_view text);

// Columns that `text` occupies on a terminal: 2 for wide CJK and emoji, 0 for combining marks and control characters.
size_t display_width(std::string_view text);

// `text` on one line in at most `columns` columns, with "…" at the end if it was cut. Control characters become spaces,
// so the text can't move the cursor, reverse the text direction or control the terminal.
std::string fit_to_width(std::string_view text, size_t columns);

// Two texts, each in at most `columns` columns, cut so that the difference can be seen: if they have a long common
// prefix, both start shortly before the first difference, after "…".
struct Excerpts {
  std::string one, other;
};
Excerpts fit_difference(std::string_view one, std::string_view other, size_t columns);

// The words of a text on lines of at most `columns`, as far as the words allow. The first line starts in column `used`;
// the others are indented.
std::string wrap_words(std::string_view text, size_t columns, size_t used, size_t indent);

// `text` without the sequences that colour a terminal or move its cursor (ESC [ 31 m, ESC ] title BEL). Removes whole
// sequences, while fit_to_width would leave what follows the ESC.
std::string without_escapes(std::string_view text);

// Like fit_to_width, but for multi-line text: nothing is cut, and line endings stay.
std::string printable_lines(std::string_view text);

}  // namespace ralph
