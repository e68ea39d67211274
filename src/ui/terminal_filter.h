// Lets text and colour through to a terminal and nothing else: no cursor movement, no title, no clipboard, no bell.
// What an agent prints can't redraw what ralph said. Works on pieces of any size.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

class TerminalFilter {
 public:
  explicit TerminalFilter(bool keep_color) : keep_color_(keep_color) {}

  std::string feed(std::string_view bytes);

 private:
  enum class State { kText, kEscape, kControlSequence, kString, kStringEscape };
  void take(char c, std::string& out);

  bool keep_color_;
  State state_ = State::kText;
  std::string sequence_;   // the control sequence under way, bounded
  bool is_color_ = true;   // it can still be a colour
  bool after_c2_ = false;  // the last byte was 0xC2, which begins the C1 control characters in UTF-8
};

}  // namespace ralph
