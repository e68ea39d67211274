// Passes only text and colour to a terminal: no cursor movement, title, clipboard, bell or reversal of the text
// direction, so an agent can't overwrite what ralph printed. Accepts chunks of any size. The result is valid UTF-8,
// because some terminals treat a stray byte as a control character.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

class TerminalFilter {
 public:
  explicit TerminalFilter(bool keep_color) : keep_color_(keep_color) {}

  // Holds back an incomplete character at the end of `bytes` until the rest arrives.
  std::string feed(std::string_view bytes);

  // Ends the text: an incomplete character becomes U+FFFD. Another text may follow.
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
  std::string held_;       // the beginning of a character
  std::string sequence_;   // the current control sequence, bounded
  bool returned_ = false;  // the last character was a carriage return
  bool is_color_ = true;   // the sequence can still be a colour
};

// Filters a whole text, and strips colours.
std::string without_controls(std::string_view text);

}  // namespace ralph
