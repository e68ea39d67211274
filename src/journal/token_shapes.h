// What the secrets of well-known services look like, as data. A new service is a new row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ralph {

// The letters that a secret's body is made of.
enum class Letters : std::uint8_t { kUpper, kAlnum, kWord, kToken, kDotted, kBearer, kPem };
inline constexpr size_t kLetterKinds = 7;

bool is_one_of(Letters kind, char c);

// A prefix, then at least so many letters. The body is as long as the letters go on.
struct TokenShape {
  std::string_view prefix;  // at least three bytes
  Letters letters;
  size_t at_least;           // letters after the prefix, so that prose ("npm_config", "sk-") is left alone
  bool whole_word = false;   // the prefix may not be the end of a longer word ("task-…")
  bool show_prefix = false;  // the prefix is no part of the secret ("Bearer ")
  std::string_view then{};   // stands between a first body of at most kLongestFirstBody letters and the rest
};

inline constexpr size_t kLongestFirstBody = 512;

std::span<const TokenShape> token_shapes();

}  // namespace ralph
