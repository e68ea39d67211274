#include "ui/terminal_filter.h"

#include <algorithm>
#include <bit>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/text.h"
#include "base/utf8.h"

namespace ralph {
namespace {

constexpr size_t kMaxSequence = 64;
constexpr char kEscapeByte = '\033';

bool in_range(char c, char first, char last) {
  return c >= first && c <= last;
}
bool is_parameter(char c) {
  return in_range(c, '0', '9') || c == ';' || c == ':';
}

bool is_plain(char c) {
  return in_range(c, ' ', '~') || c == '\n' || c == '\t';
}

// The length of the prefix that passes unchanged, which is usually the whole text.
size_t plain_prefix(std::string_view text) {
  size_t at = 0;
#if defined(__SSE2__)
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    // As signed bytes, non-ASCII ones are also less than ' '.
    const __m128i visible =
        _mm_andnot_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)), _mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x1f)));
    const __m128i blank =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
    const auto plain = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(visible, blank)));
    if (plain != 0xffff) return at + static_cast<size_t>(std::countr_one(plain));
  }
#endif
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

// U+202A to U+202E and U+2066 to U+2069 change the direction of all following text, including ralph's own. The tags
// U+E0000 to U+E007F are text that is invisible to people but not to an agent.
bool is_misleading(std::int32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

// Whether a colour sequence has the attribute 8, "hidden", other than as part of a colour number (38;5;8).
bool conceals(std::string_view sequence) {
  const std::vector<std::string> parameters = split(sequence, ';');
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i] == "38" || parameters[i] == "48" || parameters[i] == "58") {
      i += i + 1 < parameters.size() && parameters[i + 1] == "2" ? 4 : 2;
    } else if (parameters[i].find_first_not_of('0') != std::string::npos &&
               parameters[i].substr(parameters[i].find_first_not_of('0')) == "8") {
      return true;
    }
  }
  return false;
}

bool begins_string(char c) {
  return c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_';
}

}  // namespace

std::string TerminalFilter::feed(std::string_view bytes) {
  std::string joined;
  if (!held_.empty()) {
    joined = std::move(held_);
    joined += bytes;
    bytes = joined;
    held_.clear();
  }
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t bad = std::min(find_invalid_utf8(bytes), bytes.size());
    take_valid(bytes.substr(0, bad), out);
    bytes.remove_prefix(bad);
    if (bytes.empty()) break;
    if (unfinished_utf8(bytes) == bytes.size()) {
      held_ = bytes;
      break;
    }
    take_valid(kReplacementCharacter, out);
    bytes.remove_prefix(1);
  }
  return out;
}

std::string TerminalFilter::finish() {
  std::string out;
  if (!held_.empty()) take_valid(kReplacementCharacter, out);
  if (std::exchange(returned_, false)) out += '\n';
  held_.clear();
  state_ = State::kText;
  return out;
}

void TerminalFilter::take_valid(std::string_view text, std::string& out) {
  for (size_t at = 0; at < text.size();) {
    if (state_ == State::kText && !returned_) {
      const size_t plain = plain_prefix(text.substr(at));
      out.append(text, at, plain);
      at += plain;
      if (at == text.size()) break;
    }
    const std::string_view character = text.substr(at, utf8_length(text[at]));
    at += character.size();
    switch (state_) {
      case State::kText:
        take_text(character, out);
        break;
      case State::kEscape:
        take_escape(character, out);
        break;
      case State::kControlSequence:
        take_control_sequence(character, out);
        break;
      case State::kString:
        take_string(character, out);
        break;
    }
  }
}

void TerminalFilter::take_text(std::string_view character, std::string& out) {
  const char c = character[0];
  // After a lone carriage return, text would hide the text before it.
  if (std::exchange(returned_, false) && c != '\r') out += c == '\n' ? '\r' : '\n';
  if (character.size() > 1) {
    const std::int32_t code = first_character(character).code;
    if (code < 0xA0) {  // a C1 control, which terminals treat as ESC plus another character
      state_ = State::kEscape;
      const char second = static_cast<char>(code - 0x40);
      take_escape({&second, 1}, out);
    } else if (!is_misleading(code)) {
      out += character;
    }
  } else if (c == kEscapeByte) {
    state_ = State::kEscape;
  } else if (is_plain(c)) {
    out += c;
  } else if (c == '\r') {
    returned_ = true;
  }
}

void TerminalFilter::take_escape(std::string_view character, std::string& out) {
  const char c = character[0];
  if (c == '[') {
    state_ = State::kControlSequence;
    sequence_.clear();
    is_color_ = true;
  } else if (begins_string(c)) {
    state_ = State::kString;
  } else if (in_range(c, '0', '~')) {
    state_ = State::kText;  // a two-byte sequence: dropped
  } else if (!in_range(c, ' ', '/') && c != kEscapeByte) {
    state_ = State::kText;  // aborted: this character is text
    take_text(character, out);
  }
}

void TerminalFilter::take_control_sequence(std::string_view character, std::string& out) {
  const char c = character[0];
  if (in_range(c, '@', '~')) {
    state_ = State::kText;
    if (c == 'm' && keep_color_ && is_color_ && !conceals(sequence_)) out.append("\033[").append(sequence_).append("m");
  } else if (c == kEscapeByte) {
    state_ = State::kEscape;
  } else if (!in_range(c, ' ', '?')) {
    state_ = State::kText;  // aborted
    take_text(character, out);
  } else if (is_parameter(c) && sequence_.size() < kMaxSequence) {
    sequence_ += c;
  } else {
    is_color_ = false;  // another sequence, or an absurdly long one: skipped
  }
}

// Ends at BEL, at ESC and the character after it, or at the end of the line: an unfinished string must not hide the
// rest.
void TerminalFilter::take_string(std::string_view character, std::string& out) {
  const char c = character[0];
  if (c == '\a' || character == "\u009C") {
    state_ = State::kText;
  } else if (c == kEscapeByte) {
    state_ = State::kEscape;
  } else if (c == '\n') {
    state_ = State::kText;
    out += c;
  }
}

std::string without_controls(std::string_view text) {
  TerminalFilter filter(false);
  std::string plain = filter.feed(text);
  return plain += filter.finish();
}

}  // namespace ralph
