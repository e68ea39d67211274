#include "json/scan.h"

#include <cstdint>
#if defined(__SSE2__)
#include <immintrin.h>
#if __has_include(<sys/platform/x86.h>) && !defined(__clang__)  // it uses _Bool, which clang accepts only in C
#include <sys/platform/x86.h>
#endif
#endif

#include "base/text.h"
#include "base/utf8.h"

namespace ralph::json_scan {
namespace {

constexpr size_t kBlock = 64;

// Positions of characters in 64 bytes; the lowest bit is the first byte.
struct Marks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opening = 0;  // { and [
  std::uint64_t closing = 0;  // } and ]
};

#if defined(__SSE2__)
Marks marks_of(const char* block) {
  Marks marks;
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * part));
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));  // maps [ to { and ] to }
    const auto mask = [part](__m128i equal) {
      return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(equal))) << (16 * part);
    };
    marks.quotes |= mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    marks.backslashes |= mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    marks.opening |= mask(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    marks.closing |= mask(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
  }
  return marks;
}

__attribute__((target("avx2,pclmul"))) inline std::uint64_t mask_of(__m256i low, __m256i high, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  const auto first = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
  const auto second = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)));
  return first | static_cast<std::uint64_t>(second) << 32;
}

// The same with AVX2, which nearly every machine has.
__attribute__((target("avx2,pclmul"))) inline Marks marks_of_wide(const char* block) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
  const __m256i fold = _mm256_set1_epi8(0x20);
  const __m256i low_folded = _mm256_or_si256(low, fold);
  const __m256i high_folded = _mm256_or_si256(high, fold);
  Marks marks;
  marks.quotes = mask_of(low, high, '"');
  marks.backslashes = mask_of(low, high, '\\');
  marks.opening = mask_of(low_folded, high_folded, '{');
  marks.closing = mask_of(low_folded, high_folded, '}');
  return marks;
}
#else
Marks marks_of(const char* block) {
  Marks marks;
  for (size_t i = 0; i < kBlock; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (block[i] == '"') marks.quotes |= bit;
    if (block[i] == '\\') marks.backslashes |= bit;
    if (block[i] == '{' || block[i] == '[') marks.opening |= bit;
    if (block[i] == '}' || block[i] == ']') marks.closing |= bit;
  }
  return marks;
}
#endif

// Bits of the characters escaped by a backslash. `pending`: the previous block ended in such a backslash; updated for
// the next block.
std::uint64_t escaped_by(std::uint64_t backslashes, bool& pending) {
  std::uint64_t escaped = pending ? 1 : 0;
  backslashes &= ~escaped;
  pending = false;
  while (backslashes != 0) {
    const int at = std::countr_zero(backslashes);
    if (at == 63) {
      pending = true;
      break;
    }
    escaped |= std::uint64_t{2} << at;
    backslashes &= ~(std::uint64_t{3} << at);
  }
  return escaped;
}

// Each bit becomes the parity of itself and all lower bits: turns quotes into the insides of strings.
std::uint64_t parity(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

template <Marks (*kMarksOf)(const char*), std::uint64_t (*kParity)(std::uint64_t)>
[[gnu::always_inline]] inline const char* skip_blocks(const char* at, const char* end) {
  long depth = 0;
  bool escape_pending = false;
  std::uint64_t inside = 0;  // all ones if the previous block ended within a string
  char last[kBlock];
  for (const char* block = at; block < end; block += kBlock) {
    const bool whole = static_cast<size_t>(end - block) >= kBlock;
    if (!whole) {
      std::memset(last, ' ', kBlock);
      std::memcpy(last, block, static_cast<size_t>(end - block));
    }
    const Marks marks = kMarksOf(whole ? block : last);
    std::uint64_t quotes = marks.quotes;
    if (marks.backslashes != 0 || escape_pending) quotes &= ~escaped_by(marks.backslashes, escape_pending);
    const std::uint64_t strings = kParity(quotes) ^ inside;
    inside = static_cast<std::uint64_t>(static_cast<std::int64_t>(strings) >> 63);
    const std::uint64_t closing = marks.closing & ~strings;
    for (std::uint64_t brackets = (marks.opening & ~strings) | closing; brackets != 0; brackets &= brackets - 1) {
      const std::uint64_t lowest = brackets & (~brackets + 1);
      if ((closing & lowest) == 0) {
        ++depth;
      } else if (--depth == 0) {
        return block + std::countr_zero(lowest) + 1;
      }
    }
  }
  return nullptr;
}

#if defined(__SSE2__)
// A carry-less product with all ones is the prefix parity.
__attribute__((target("avx2,pclmul"))) inline std::uint64_t parity_wide(std::uint64_t bits) {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<std::int64_t>(bits)), _mm_set1_epi8('\xFF'), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

__attribute__((target("avx2,pclmul"))) const char* skip_blocks_wide(const char* at, const char* end) {
  return skip_blocks<marks_of_wide, parity_wide>(at, end);
}
#endif

// Writes the character of the escape at `at` (the letter after the backslash) and skips it. nullptr if it is invalid or
// a lone surrogate.
char* put_unescaped(const char*& at, const char* end, char* out) {
  static constexpr std::string_view kLetters = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (at == end) return nullptr;
  if (const size_t letter = kLetters.find(*at); letter != std::string_view::npos) {
    *out++ = kMeanings[letter];
    ++at;
    return out;
  }
  if (*at != 'u' || end - at < 5) return nullptr;
  const int unit = hex4(at + 1);
  if (unit < 0 || (unit >= 0xDC00 && unit < 0xE000)) return nullptr;
  auto code = static_cast<unsigned>(unit);
  if (unit >= 0xD800 && unit < 0xDC00) {
    if (end - at < 11 || at[5] != '\\' || at[6] != 'u') return nullptr;
    const int low = hex4(at + 7);
    if (low < 0xDC00 || low >= 0xE000) return nullptr;
    code = 0x10000U + ((code - 0xD800U) << 10) + (static_cast<unsigned>(low) - 0xDC00U);
    at += 6;
  }
  at += 5;
  return put_utf8(out, code);
}

#if defined(__SSE2__)
bool has_wide_instructions() {
#if defined(CPU_FEATURE_ACTIVE)
  // libc has already queried the processor. The compiler's builtin would query it again at every start, which traps in
  // a virtual machine.
  return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(PCLMULQDQ);
#else
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul");
#endif
}
#endif

}  // namespace

int hex4(const char* at) {
  int value = 0;
  for (const char c : std::string_view(at, 4)) {
    const int digit = hex_digit(c);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

const char* skip_container(const char* at, const char* end) {
#if defined(__SSE2__)
  static const bool wide = has_wide_instructions();
  if (wide) return skip_blocks_wide(at, end);
#endif
  return skip_blocks<marks_of, parity>(at, end);
}

const char* plain_string_beyond_ascii(const char* at, const char* end) {
  while (at < end && static_cast<unsigned char>(*at) >= 0x80) {
    const Character character = first_character({at, end});
    if (character.code < 0) return nullptr;
    at = find_special(at + character.bytes, end);
  }
  return at < end && *at == '"' ? at : nullptr;
}

const char* decode_string(const char* at, const char* end, char*& out) {
  while (out) {
    const char* stop = find_special(at, end);
    while (stop < end && static_cast<unsigned char>(*stop) >= 0x80) {
      const Character character = first_character({stop, end});
      if (character.code < 0) return nullptr;
      stop = find_special(stop + character.bytes, end);
    }
    if (stop == end) return nullptr;
    std::memcpy(out, at, static_cast<size_t>(stop - at));
    out += stop - at;
    at = stop + 1;
    if (*stop == '"') return at;
    if (*stop != '\\') return nullptr;
    out = put_unescaped(at, end, out);
  }
  return nullptr;
}

const char* skip_number(const char* at, const char* end) {
  const auto digits = [&] {
    const char* const begin = at;
    while (at < end && *at >= '0' && *at <= '9') ++at;
    return at != begin;
  };
  if (at < end && *at == '-') ++at;
  const char* const whole = at;
  if (!digits() || (*whole == '0' && at - whole > 1)) return nullptr;
  if (at < end && *at == '.') {
    ++at;
    if (!digits()) return nullptr;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return nullptr;
  }
  return at;
}

}  // namespace ralph::json_scan
