// Whether a line of a Markdown text stands in something that quotes: code between fences, HTML that shows text as it
// is, inline code that goes on from line to line, a quotation that goes on without its marks. Whoever repeats the words
// of a file does not say them. Pure.
//
// Markdown is read in several ways by several programs. Where they differ, a line is quoted if it is by one of them.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

class Quoting {
 public:
  void read(std::string_view line);  // the next one, without its end

  // The next line stands in …
  bool in_fence() const { return strict_.length > 0 || loose_.length > 0; }
  bool in_block() const { return in_fence() || !until_.empty(); }
  bool is_open() const { return in_block() || span_ > 0 || lazy_; }

  // HTML was closed that had not been opened: it was, before the first line that was read.
  bool closed_more() const { return closed_more_; }

 private:
  // Three or more of ` or ~ until a line of as many of the same; length 0: none is open.
  struct Fence {
    char mark = 0;
    size_t length = 0;
    size_t column = 0, quotes = 0;  // it ends with the item of a list, and with the quotation, that it stands in
  };
  struct Line;

  static Line line_from(std::string_view line);
  static bool read_fence(Fence& fence, const Line& line, bool strict);
  void leave_containers(const Line& line);
  std::string without_code(std::string_view text);
  void read_html(std::string_view text);

  Fence strict_, loose_;      // as Markdown has it; and with any indent, wherever a list or a quotation ends
  std::string_view until_{};  // what closes the HTML that is open
  size_t span_ = 0;           // of how many ` the inline code is made that is open
  bool lazy_ = false;         // the paragraph began as a quotation
  bool closed_more_ = false;
};

// Whether what follows on a line that begins like this is quoted or struck out.
bool quotes_the_rest(std::string_view beginning);

}  // namespace ralph
