// UTF-8: what is valid, where text may be cut, how wide it is on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ralph {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

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
