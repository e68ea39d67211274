// Whether a line of a Markdown text is inside something that quotes: fenced code, HTML that shows text verbatim, inline
// code that continues across lines, a quotation that continues without its marks. Repeating the words of a file is not
// saying them. Pure.
//
// Programs differ in how they read Markdown. Where they do, a line counts as quoted if any of them quotes it.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

class Quoting {
 public:
  void read(std::string_view line);  // the next line, without its line ending

  // The next line is inside …
  bool in_fence() const { return strict_.length > 0 || loose_.length > 0; }
  bool in_block() const { return in_fence() || !until_.empty(); }
  bool is_open() const { return in_block() || span_ > 0 || lazy_; }

  // HTML was closed that had not been opened, so it was opened before the first line that was read.
  bool closed_more() const { return closed_more_; }

 private:
  // Three or more ` or ~, up to a line with at least as many of the same; length 0: no fence is open.
  struct Fence {
    char mark = 0;
    size_t length = 0;
    size_t column = 0, quotes = 0;  // it ends with the list item and with the quotation that contain it
  };
  struct Line;

  static Line line_from(std::string_view line);
  static bool read_fence(Fence& fence, const Line& line, bool strict);
  void leave_containers(const Line& line);
  std::string without_code(std::string_view text);
  void read_html(std::string_view text);

  Fence strict_, loose_;      // by the rules of Markdown; and with any indent, ignoring ends of lists and quotations
  std::string_view until_{};  // the text that closes the open HTML
  size_t span_ = 0;           // how many ` delimit the open inline code
  bool lazy_ = false;         // the paragraph began as a quotation
  bool closed_more_ = false;
};

// Whether the rest of a line that begins like this is quoted or struck out.
bool quotes_the_rest(std::string_view beginning);

}  // namespace ralph
