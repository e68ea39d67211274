#include "json/writer.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/utf8.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ralph {
namespace {

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = ' '; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

// The length of the prefix of `text` that needs no escapes in a JSON string: printable ASCII.
size_t plain_prefix(std::string_view text) {
  size_t at = 0;
#if defined(__SSE2__)
  while (text.size() - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    // As signed bytes, those beyond ASCII are also less than ' '.
    const __m128i special = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
        _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f))));
    if (const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special))) {
      return at + static_cast<size_t>(std::countr_zero(mask));
    }
    if (text.size() - at == 16) return text.size();
    at = std::min(at + 16, text.size() - 16);  // the last step may overlap the one before
  }
#endif
  while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

// The letter of a byte's short escape, if it has one.
constexpr std::array<char, 256> kShortEscapes = [] {
  std::array<char, 256> letters{};
  letters['"'] = '"', letters['\\'] = '\\';
  letters['\n'] = 'n', letters['\t'] = 't', letters['\r'] = 'r';
  return letters;
}();

char* put_escape(char* out, unsigned char byte) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  *out++ = '\\';
  if (const char letter = kShortEscapes[byte]) {
    *out++ = letter;
    return out;
  }
  out = put_bytes(out, "u00");
  *out++ = kDigits[byte >> 4];
  *out++ = kDigits[byte & 15];
  return out;
}

constexpr size_t kLongestEscape = 6;

void append_valid_string(ByteBuffer& out, std::string_view text) {
  constexpr size_t kAtOnce = 4096;
  while (!text.empty()) {
    char* at = out.room((std::min(text.size(), kAtOnce) + 4) * kLongestEscape);
    const char* const enough = text.data() + std::min(text.size(), kAtOnce);
    while (text.data() < enough) {
      const size_t plain = plain_prefix(text.substr(0, static_cast<size_t>(enough - text.data())));
      at = put_bytes(at, text.substr(0, plain));
      text.remove_prefix(plain);
      if (text.data() >= enough) break;
      const Character character = first_character(text);
      at = character.code < 0xA0 ? put_escape(at, static_cast<unsigned char>(character.code))
                                 : put_bytes(at, text.substr(0, character.bytes));
      text.remove_prefix(character.bytes);
    }
    out.added(at);
  }
}

void append_escaped(ByteBuffer& out, std::string_view text) {
  // Most texts are plain ASCII; only others are checked for invalid UTF-8.
  const size_t plain = plain_prefix(text);
  if (plain == text.size()) {
    out.append(text);
  } else if (find_invalid_utf8(text.substr(plain)) == std::string_view::npos) {
    append_valid_string(out, text);
  } else {
    append_valid_string(out, to_valid_utf8(text));
  }
}

}  // namespace

void append_json_string(ByteBuffer& out, std::string_view text) {
  out.append("\"");
  append_escaped(out, text);
  out.append("\"");
}

std::string json_escaped(std::string_view text) {
  ByteBuffer out;
  append_escaped(out, text);
  return std::string(out.bytes());
}

}  // namespace ralph
