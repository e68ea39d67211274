#include "ui/terminal_filter.h"

#include <algorithm>

#include "base/utf8.h"

namespace ralph {
namespace {

constexpr size_t kMaxSequence = 64;
constexpr char kEscapeByte = '\033';
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool in_range(char c, char first, char last) {
  return c >= first && c <= last;
}
bool is_parameter(char c) {
  return in_range(c, '0', '9') || c == ';' || c == ':';
}

// Of the character that begins with this byte, in valid UTF-8.
size_t length_of(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Whether all of `tail` may be the beginning of a character whose rest is still to come.
bool is_beginning(std::string_view tail) {
  const auto lead = static_cast<unsigned char>(tail[0]);
  if (lead < 0xC2 || lead > 0xF4 || tail.size() >= length_of(tail[0])) return false;
  return std::all_of(tail.begin() + 1, tail.end(),
                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
}

// The byte of a C1 control character (U+0080 to U+009F), which terminals read as ESC and another one; 0 if it is none.
unsigned char c1_of(std::string_view character) {
  if (character.size() != 2 || character[0] != '\xC2') return 0;
  const auto byte = static_cast<unsigned char>(character[1]);
  return byte < 0xA0 ? byte : 0;
}

// U+202A to U+202E and U+2066 to U+2069 turn the direction of whatever follows, also of ralph's own words.
bool turns_direction(std::string_view character) {
  if (character.size() != 3 || character[0] != '\xE2') return false;
  return (character[1] == '\x80' && in_range(character[2], '\xAA', '\xAE')) ||
         (character[1] == '\x81' && in_range(character[2], '\xA6', '\xA9'));
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
    if (is_beginning(bytes)) {
      held_ = bytes;
      break;
    }
    take_valid(kReplacement, out);
    bytes.remove_prefix(1);
  }
  return out;
}

std::string TerminalFilter::finish() {
  std::string out;
  if (!held_.empty()) take_valid(kReplacement, out);
  held_.clear();
  state_ = State::kText;
  return out;
}

void TerminalFilter::take_valid(std::string_view text, std::string& out) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, length_of(text[at]));
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
  if (character.size() > 1) {
    if (const unsigned char c1 = c1_of(character)) {
      state_ = State::kEscape;
      const char second = static_cast<char>(c1 - 0x40);  // what stands after ESC in the other way to write it
      take_escape({&second, 1}, out);
    } else if (!turns_direction(character)) {
      out += character;
    }
  } else if (c == kEscapeByte) {
    state_ = State::kEscape;
  } else if (in_range(c, ' ', '~') || c == '\n' || c == '\t' || c == '\r') {
    out += c;
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
    state_ = State::kText;  // broken off: this character belongs to the text
    take_text(character, out);
  }
}

void TerminalFilter::take_control_sequence(std::string_view character, std::string& out) {
  const char c = character[0];
  if (in_range(c, '@', '~')) {
    state_ = State::kText;
    if (c == 'm' && keep_color_ && is_color_) out.append("\033[").append(sequence_).append("m");
  } else if (c == kEscapeByte) {
    state_ = State::kEscape;
  } else if (!in_range(c, ' ', '?')) {
    state_ = State::kText;  // broken off
    take_text(character, out);
  } else if (is_parameter(c) && sequence_.size() < kMaxSequence) {
    sequence_ += c;
  } else {
    is_color_ = false;  // something else, or absurdly long: read to its end and dropped
  }
}

// Ends with BEL, with ESC and what follows it, or at the end of the line: an unfinished one must not hide the rest.
void TerminalFilter::take_string(std::string_view character, std::string& out) {
  const char c = character[0];
  if (c == '\a' || c1_of(character) == 0x9C) {
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
