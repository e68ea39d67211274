// Writes whole lines and text that arrives in pieces. Begins every line with the time and the mark of a sub-agent, and
// puts one blank line between blocks of different kinds.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ui/style.h"

namespace ralph {

enum class Block { kNone, kActivity, kWords, kTodo, kFailure, kClosing };

class LineFlow {
 public:
  using Write = std::function<void(std::string_view)>;
  using Stamp = std::function<std::string()>;  // the prefix of every line; an empty function: none

  LineFlow(const Style& style, bool unicode, Write write, Stamp stamp);

  // Starts a block of this kind on a new line.
  void begin(Block block);
  Block block() const { return block_; }

  // Writes one line; `text` has no newline.
  void line(std::string_view text, bool sub_agent = false);

  // Continues where the last words ended. Newlines of all kinds become LF; those at the end of a block are dropped.
  void words(std::string_view text, bool sub_agent);

  void end_line();
  void flush();   // passes the gathered output to `write` in one call
  void forget();  // other output has written whole lines in between

  // Columns left on a line after its prefix; generous if the output is not a terminal.
  size_t room(bool sub_agent) const;

 private:
  void begin_line(bool sub_agent);

  Style style_;
  std::string bar_;  // before the lines of a sub-agent
  Write write_;
  Stamp stamp_;
  std::string gathered_;
  Block block_ = Block::kNone;
  bool at_line_start_ = true;
  bool silent_ = true;           // nothing has been written in this block
  bool after_return_ = false;    // the last character was CR: an LF after it is part of the same newline
  size_t pending_newlines_ = 0;  // written when more words come
};

}  // namespace ralph
