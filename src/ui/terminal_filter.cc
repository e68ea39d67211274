#include "ui/terminal_filter.h"

namespace ralph {
namespace {

constexpr size_t kMaxSequence = 64;
constexpr char kEscapeByte = '\033';

bool is_final(char c) { return c >= 0x40 && c <= 0x7e; }
bool is_parameter(char c) { return (c >= '0' && c <= '9') || c == ';' || c == ':'; }

}  // namespace

std::string TerminalFilter::feed(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (char c : bytes) take(c, out);
  return out;
}

void TerminalFilter::take(char c, std::string& out) {
  const auto byte = static_cast<unsigned char>(c);
  switch (state_) {
    case State::kText:
      if (after_c2_) {
        after_c2_ = false;
        if (byte >= 0x80 && byte < 0xa0) return;  // a C1 control character such as CSI: dropped with its first byte
        out += '\xC2';
      }
      if (c == kEscapeByte) {
        state_ = State::kEscape;
      } else if (byte == 0xC2) {
        after_c2_ = true;
      } else if (byte >= 0x20 ? byte != 0x7f : (c == '\n' || c == '\t' || c == '\r')) {
        out += c;
      }
      return;
    case State::kEscape:
      if (c == '[') {
        state_ = State::kControlSequence;
        sequence_.clear();
        is_color_ = true;
      } else if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_') {
        state_ = State::kString;
      } else if (c != kEscapeByte && byte >= 0x30) {
        state_ = State::kText;  // a two-byte sequence: dropped
      }
      return;
    case State::kControlSequence:
      if (is_final(c)) {
        state_ = State::kText;
        if (c == 'm' && keep_color_ && is_color_) out.append("\033[").append(sequence_).append("m");
      } else if (c == kEscapeByte) {
        state_ = State::kEscape;
      } else if (byte < 0x20) {
        state_ = State::kText;  // broken off
        if (c == '\n') out += c;
      } else if (is_parameter(c) && sequence_.size() < kMaxSequence) {
        sequence_ += c;
      } else {
        is_color_ = false;  // something else, or absurdly long: read to its end and dropped
      }
      return;
    case State::kString:
      if (c == '\a' || c == '\n') state_ = State::kText;
      if (c == kEscapeByte) state_ = State::kStringEscape;
      return;
    case State::kStringEscape:
      state_ = c == '\\' ? State::kText : State::kString;
      return;
  }
}

}  // namespace ralph
