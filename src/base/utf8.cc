#include "base/utf8.h"

#include <bit>
#include <cstring>
#include <utf8proc.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ralph {
namespace {

constexpr size_t kNoLimit = std::string_view::npos / 2;

// Terminal controls, and characters that change the display order of text.
bool is_control(std::int32_t code) {
  if (code < 0) return false;
  const bool turns = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || turns;
}

size_t width_of(std::int32_t code) {
  if (code < 0) return 1;  // shown as a replacement character
  if (code < 0x20 || code == 0x7f) return 0;
  if (code < 0x7f) return 1;  // without the tables, which most texts never need
  const int width = utf8proc_charwidth(code);
  return width > 0 ? static_cast<size_t>(width) : 0;
}

// A lower bound for the number of ASCII bytes at the front: counts whole machine words.
size_t ascii_prefix(std::string_view text) {
  size_t at = 0;
  for (std::uint64_t word = 0; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080) != 0) break;
  }
  return at;
}

}  // namespace

char* put_utf8(char* out, unsigned long code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  const int inner = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  *out++ = static_cast<char>(kFirst[inner] | code >> (6 * inner));
  for (int i = inner - 1; i >= 0; --i) *out++ = static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
  return out;
}

void append_utf8(std::string& out, unsigned long code) {
  char bytes[4];
  out.append(bytes, put_utf8(bytes, code));
}

size_t unfinished_utf8(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const char byte = text[text.size() - back];
    if (!is_continuation_byte(byte)) return utf8_length(byte) > back ? back : 0;
  }
  return 0;
}

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    at += ascii_prefix(text.substr(at));
    if (at == text.size()) break;
    const Character c = first_character(text.substr(at));
    if (c.code < 0) return at;
    at += c.bytes;
  }
  return std::string_view::npos;
}

std::string to_valid_utf8(std::string_view text) {
  if (find_invalid_utf8(text) == std::string_view::npos) return std::string(text);
  std::string valid;
  valid.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    if (c.code < 0) {
      valid += kReplacementCharacter;
    } else {
      valid.append(text, at, c.bytes);
    }
    at += c.bytes;
  }
  return valid;
}

std::string_view prefix_of_characters(std::string_view text, size_t characters) {
  size_t at = 0;
  for (; at < text.size() && characters > 0; --characters) at += first_character(text.substr(at)).bytes;
  return text.substr(0, at);
}

TextSize size_of(std::string_view text) {
  TextSize size;
  size_t at = 0;
#if defined(__SSE2__)
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const int ends = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
    const int firsts =
        _mm_movemask_epi8(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(-65)));  // smaller bytes continue a character
    size.lines += static_cast<size_t>(std::popcount(static_cast<unsigned>(ends)));
    size.characters += static_cast<size_t>(std::popcount(static_cast<unsigned>(firsts)));
  }
#endif
  for (; at < text.size(); ++at) {
    size.lines += text[at] == '\n' ? 1 : 0;
    size.characters += is_continuation_byte(text[at]) ? 0 : 1;
  }
  if (!text.empty() && text.back() != '\n') ++size.lines;
  return size;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    width += width_of(c.code);
    at += c.bytes;
  }
  return width;
}

std::string wrap_words(std::string_view text, size_t columns, size_t used, size_t indent) {
  std::string lines;
  size_t column = used;
  bool first = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const size_t width = display_width(word);
    if (!first && column + 1 + width > columns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) lines += ' ', ++column;
    lines += word;
    column += width;
    first = false;
  }
  return lines;
}

Excerpts fit_difference(std::string_view one, std::string_view other, size_t columns) {
  constexpr size_t kBefore = 30;  // common bytes shown before the difference, for orientation
  const bool fits = display_width(one) <= columns && display_width(other) <= columns;
  const auto differ = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  const auto same = static_cast<size_t>(differ.first - one.begin());
  size_t from = fits || same <= kBefore ? 0 : same - kBefore;
  while (from > 0 && (static_cast<unsigned char>(one[from]) & 0xC0U) == 0x80U) --from;  // not inside a character
  const auto excerpt = [&](std::string_view text) {
    return from == 0 ? fit_to_width(text, columns) : "…" + fit_to_width(text.substr(from), columns - 1);
  };
  return {excerpt(one), excerpt(other)};
}

std::string fit_to_width(std::string_view text, size_t columns) {
  std::string line;
  size_t width = 0;
  size_t last_cut = 0;  // length of `line` that leaves room for the ellipsis
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    const bool control = is_control(c.code);
    const size_t wide = control ? 1 : width_of(c.code);
    if (width + wide > columns) {
      line.resize(last_cut);
      return columns == 0 ? "" : line + "…";
    }
    width += wide;
    if (control) {
      line += ' ';
    } else if (c.code < 0) {
      line += kReplacementCharacter;
    } else {
      line.append(text, at, c.bytes);
    }
    if (width + 1 <= columns) last_cut = line.size();
    at += c.bytes;
  }
  return line;
}

std::string without_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      out += text[i];
      continue;
    }
    const char kind = i + 1 < text.size() ? text[i + 1] : 0;
    if (kind == '[') {  // parameters, then one letter
      i += 2;
      while (i < text.size() && text[i] >= ' ' && text[i] < '@') ++i;
    } else if (kind == ']') {  // up to BEL or ESC backslash
      while (i < text.size() && text[i] != '\a' && !text.substr(i + 1).starts_with("\x1b\\")) ++i;
      if (i < text.size() && text[i] != '\a') i += 2;
    } else {
      ++i;
    }
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string lines;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines += fit_to_width(text.substr(0, end), kNoLimit) + '\n';
    text.remove_prefix(end + 1);
  }
  return lines + fit_to_width(text, kNoLimit);
}

}  // namespace ralph
