// Small helpers on strings that the standard library lacks. All of them are pure.
#pragma once

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ralph {

std::string_view trim(std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);  // keeps empty parts
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string to_lower(std::string_view text);  // ASCII only
std::string to_upper(std::string_view text);  // ASCII only
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all);
template <class Value, class All>
bool is_one_of(const Value& value, const All& all) {
  return std::find(std::begin(all), std::end(all), value) != std::end(all);
}
bool is_listed(std::string_view list, std::string_view word);  // the words of a list are separated by spaces
bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes);
bool contains(std::string_view text, std::string_view part);
bool contains(std::string_view text, char c);
bool equals_ignoring_case(std::string_view a, std::string_view b);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);
int hex_digit(char c);  // -1 if it is not one
constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
std::string_view first_line(std::string_view text);  // the first nonblank line, trimmed; empty if none

// A positive decimal number with nothing around it; nullopt for "", "x", "-1", "1.5" or a value that overflows.
std::optional<long> parse_count(std::string_view text);

// Splits words as a POSIX shell does: blanks separate, quotes and backslashes group. Nothing is expanded. Fails on an
// unclosed quote.
Result<std::vector<std::string>> split_shell_words(std::string_view text);

// The words as one line that a POSIX shell reads back as the same words; for showing commands to people.
std::string quote_shell_words(std::span<const std::string> words);

// The candidate most similar to a mistyped word; empty if none is close.
size_t edit_distance(std::string_view a, std::string_view b);  // letters to add, remove, change or swap
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// "512 B", "5.0 KB", "1.2 GB".
std::string human_bytes(unsigned long long bytes);

// "$5.76"; "$0.0042" for less than a cent.
std::string human_cost(double usd);

// "a", "a and b", "a, b and c".
std::string join_for_people(std::span<const std::string> parts);

// "1 iteration", "2 iterations", "3 stories", "4 processes".
std::string count_of(unsigned long long n, std::string_view noun);
std::string count_of(std::signed_integral auto n, std::string_view noun) {
  return count_of(static_cast<unsigned long long>(n), noun);
}

}  // namespace ralph
