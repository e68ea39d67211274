// Lets text and colour through to a terminal and nothing else: no cursor movement, no title, no clipboard, no bell, no
// reversal of the reading direction. What an agent prints can't redraw what ralph said. Works on pieces of any size,
// and what comes out is valid UTF-8: a stray byte would be a control character to some terminals.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

class TerminalFilter {
 public:
  explicit TerminalFilter(bool keep_color) : keep_color_(keep_color) {}

  // A character that is cut by the end of `bytes` is held back until the rest of it comes.
  std::string feed(std::string_view bytes);

  // The text is over: a character without its rest is shown as U+FFFD. Another text may follow.
  std::string finish();

 private:
  enum class State { kText, kEscape, kControlSequence, kString };
  void take_valid(std::string_view text, std::string& out);
  void take_text(std::string_view character, std::string& out);
  void take_escape(std::string_view character, std::string& out);
  void take_control_sequence(std::string_view character, std::string& out);
  void take_string(std::string_view character, std::string& out);

  bool keep_color_;
  State state_ = State::kText;
  std::string held_;      // the beginning of a character
  std::string sequence_;  // the control sequence under way, bounded
  bool is_color_ = true;  // it can still be a colour
};

// A whole text, without colours.
std::string without_controls(std::string_view text);

}  // namespace ralph
