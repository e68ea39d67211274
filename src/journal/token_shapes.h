// The shapes of well-known services' tokens, as data. Add a row to support another service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ralph {

// The characters of a secret's body.
enum class Letters : std::uint8_t { kUpper, kAlnum, kWord, kToken, kDotted, kBearer, kPem };
inline constexpr size_t kLetterKinds = 7;

bool is_one_of(Letters kind, char c);

// A prefix and a body of at least `at_least` letters. The body extends as far as its letters do.
struct TokenShape {
  std::string_view prefix;  // at least three bytes
  Letters letters;
  size_t at_least;           // letters after the prefix, so that prose ("npm_config", "sk-") does not match
  bool whole_word = false;   // the prefix must not be the end of a longer word ("task-…")
  bool show_prefix = false;  // the prefix is not part of the secret ("Bearer ")
  std::string_view then{};   // separates a first body of at most kLongestFirstBody letters from the rest
};

inline constexpr size_t kLongestFirstBody = 512;

std::span<const TokenShape> token_shapes();

}  // namespace ralph
