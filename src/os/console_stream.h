// Standard output or standard error, whose reader may be slow or gone.
#pragma once

#include <string_view>

namespace ralph {

class ConsoleStream {
 public:
  explicit ConsoleStream(int fd);

  // Writes all of `bytes` and waits for a slow reader as long as necessary. When ralph is asked to stop or its guardian
  // is gone, a reader that accepts nothing for a second is given up, so that a full pipe can't block ralph. After that,
  // or once the reader has closed the stream, this does nothing.
  void write(std::string_view bytes);

 private:
  bool wait_for_room() const;

  int fd_;
  int parent_;
  bool can_block_;
  bool gone_ = false;
};

}  // namespace ralph
