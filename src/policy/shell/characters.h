// Characters with a special meaning in a shell.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace ralph {

// Ends a word unless it is quoted.
inline bool is_meta(char c) {
  return std::string_view(" \t\n;&|()<>").find(c) != std::string_view::npos;
}

inline bool is_name_start(char c) {
  return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0;
}

inline bool is_name_part(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// The name of a variable.
inline bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::ranges::all_of(text, is_name_part);
}

}  // namespace ralph
