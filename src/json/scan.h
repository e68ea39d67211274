// Fast scanners over JSON text that build nothing and read 16 to 64 bytes at a time if the processor can. Each takes
// the current position and the end of the text, and returns the new position; nullptr if the text is malformed.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ralph::json_scan {

inline const char* skip_blanks(const char* at, const char* end) {
  while (at < end && static_cast<unsigned char>(*at) <= ' ') [[unlikely]] {
    if (*at != ' ' && *at != '\t' && *at != '\r' && *at != '\n') break;
    ++at;
  }
  return at;
}

// Skips blanks and the character `c`, which must follow.
inline const char* expect(const char* at, const char* end, char c) {
  if (at < end && *at == c) [[likely]]
    return at + 1;
  at = skip_blanks(at, end);
  return at < end && *at == c ? at + 1 : nullptr;
}

inline const char* take_word(const char* at, const char* end, std::string_view word) {
  const bool same = static_cast<size_t>(end - at) >= word.size() && std::memcmp(at, word.data(), word.size()) == 0;
  return same ? at + word.size() : nullptr;
}

// The first quote, backslash, control character or byte beyond ASCII; the end if there is none.
inline const char* find_special(const char* at, const char* end) {
#if defined(__SSE2__)
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // As signed bytes, those beyond ASCII are also less than ' '.
    const __m128i special = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
        _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')));
    if (const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special))) return at + std::countr_zero(mask);
  }
#endif
  for (; at < end; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\' || byte < ' ' || byte >= 0x80) break;
  }
  return at;
}

// After the opening quote of a key: the closing quote; nullptr if the key contains an escape.
inline const char* find_key_end(const char* at, const char* end) {
#if defined(__SSE2__)
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto quotes = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))));
    const auto escapes = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    const unsigned before = quotes - 1;  // ones below the first quote; all ones if there is none
    if ((escapes & before & ~quotes) != 0) return nullptr;
    if (quotes != 0) return at + std::countr_zero(quotes);
  }
#endif
  for (; at < end && *at != '\\'; ++at) {
    if (*at == '"') return at;
  }
  return nullptr;
}

const char* plain_string_beyond_ascii(const char* at, const char* end);

// After an opening quote: the closing quote; nullptr if the string contains an escape, a control character or invalid
// UTF-8.
inline const char* find_plain_end(const char* at, const char* end) {
  const char* const stop = find_special(at, end);
  if (stop == end) return nullptr;
  return *stop == '"' ? stop : *stop == '\\' ? nullptr : plain_string_beyond_ascii(stop, end);
}

// After an opening quote: writes the text to `out` with escapes resolved, never longer than its source, and skips the
// closing quote. Malformed: a lone surrogate, a control character, invalid UTF-8, an unknown escape.
const char* decode_string(const char* at, const char* end, char*& out);

// Four hexadecimal digits; negative if invalid.
int hex4(const char* at);

// Skips a number in JSON's grammar.
const char* skip_number(const char* at, const char* end);

// After an opening quote: skips the closing quote.
inline const char* skip_string(const char* at, const char* end) {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i special =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask == 0) {
      at += 16;
      continue;
    }
    at += std::countr_zero(mask);
    if (*at == '"') return at + 1;
    at += 2;
  }
#endif
  for (; at < end; ++at) {
    if (*at == '"') return at + 1;
    if (*at == '\\') ++at;
  }
  return nullptr;
}

// The characters of numbers, true, false and null.
inline constexpr std::array<bool, 256> kInWord = [] {
  std::array<bool, 256> in{};
  for (const char c : std::string_view("+-.0123456789Eaeflnrstu")) in[static_cast<unsigned char>(c)] = true;
  return in;
}();

// At an opening bracket: skips the matching closing bracket.
const char* skip_container(const char* at, const char* end);

// Skips a value of any kind and checks only quotes and brackets.
inline const char* skip_value(const char* at, const char* end) {
  if (at >= end) return nullptr;
  if (*at == '"') return skip_string(at + 1, end);
  if (*at == '{' || *at == '[') return skip_container(at, end);
  const char* const begin = at;
  while (at < end && kInWord[static_cast<unsigned char>(*at)]) ++at;
  return at != begin ? at : nullptr;
}

}  // namespace ralph::json_scan
