#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstdint>

// glibc's record of the processor's features from program start: asking again traps in a virtual machine, which takes
// longer than hashing a record.
#if defined(__x86_64__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
#define RALPH_SHA_INSTRUCTIONS
#include <immintrin.h>
#ifdef __clang__  // the header is written in C, which g++ tolerates
#define _Bool bool
#endif
#include <sys/platform/x86.h>
#undef _Bool
#endif
#endif

namespace ralph {
namespace {

alignas(16) constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

void add_by_arithmetic(State& state, const char* block) {
  std::array<std::uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i) {
    for (size_t k = 0; k < 4; ++k) w[i] = w[i] << 8 | static_cast<unsigned char>(block[i * 4 + k]);
  }
  for (size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const std::uint32_t one =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const std::uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

#ifdef RALPH_SHA_INSTRUCTIONS
#define RALPH_TARGET __attribute__((target("sha,sse4.1")))

// Four rounds with the words `w0`, which are replaced by the words for sixteen rounds later if `more`.
RALPH_TARGET inline void four_rounds(__m128i& abef, __m128i& cdgh, __m128i& w0, __m128i w1, __m128i w2, __m128i w3,
                                     const std::uint32_t* round, bool more) {
  const __m128i words = _mm_add_epi32(w0, _mm_load_si128(reinterpret_cast<const __m128i*>(round)));
  cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
  abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0e));
  if (more) w0 = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4)), w3);
}

RALPH_TARGET void add_by_instructions(State& state, const char* block) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto words = [&](size_t i) RALPH_TARGET {
    return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), big_endian);
  };
  __m128i w0 = words(0), w1 = words(1), w2 = words(2), w3 = words(3);
  auto* const halves = reinterpret_cast<__m128i*>(state.data());
  const __m128i dcba = _mm_loadu_si128(halves), hgfe = _mm_loadu_si128(halves + 1);
  // The instructions expect a, b, e, f and c, d, g, h, with the first in the highest position.
  const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
  const __m128i abef_before = _mm_alignr_epi8(cdab, efgh, 8), cdgh_before = _mm_blend_epi16(efgh, cdab, 0xf0);
  __m128i abef = abef_before, cdgh = cdgh_before;
  for (size_t i = 0; i < 64; i += 16) {
    const bool more = i < 48;
    four_rounds(abef, cdgh, w0, w1, w2, w3, &kRound[i], more);
    four_rounds(abef, cdgh, w1, w2, w3, w0, &kRound[i + 4], more);
    four_rounds(abef, cdgh, w2, w3, w0, w1, &kRound[i + 8], more);
    four_rounds(abef, cdgh, w3, w0, w1, w2, &kRound[i + 12], more);
  }
  const __m128i feba = _mm_shuffle_epi32(_mm_add_epi32(abef, abef_before), 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh_before), 0xb1);
  _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

void add_block(State& state, const char* block, bool plainly = false) {
#ifdef RALPH_SHA_INSTRUCTIONS
  if (!plainly && CPU_FEATURE_PRESENT(SHA) && CPU_FEATURE_PRESENT(SSE4_1)) return add_by_instructions(state, block);
#endif
  static_cast<void>(plainly);
  add_by_arithmetic(state, block);
}

}  // namespace

void Sha256::add(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!rest_.empty()) {
    const size_t taken = std::min(bytes.size(), 64 - rest_.size());
    rest_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (rest_.size() < 64) return;
    add_block(state_, rest_.data(), plainly_);
    rest_.clear();
  }
  for (; bytes.size() >= 64; bytes.remove_prefix(64)) add_block(state_, &bytes.front(), plainly_);
  rest_ = bytes;
}

std::string Sha256::hex() const {
  State state = state_;
  const std::uint64_t bits = bytes_ * 8;
  std::string last = rest_;
  last += '\x80';
  last.resize((last.size() + 8 + 63) / 64 * 64 - 8, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) last += static_cast<char>(bits >> shift & 0xff);
  for (size_t at = 0; at < last.size(); at += 64) add_block(state, last.data() + at, plainly_);
  std::string hex;
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 15];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace ralph
