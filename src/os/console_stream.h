// Standard output or standard error, for people or programs that may read slowly, or no more.
#pragma once

#include <string_view>

namespace ralph {

class ConsoleStream {
 public:
  explicit ConsoleStream(int fd);

  // Writes all of it, waiting for a slow reader as long as that takes: but when ralph is asked to stop, or its guardian
  // is gone, a reader that takes nothing for a second is given up, so that a full pipe can't make ralph deaf. After
  // that, and when nobody reads any more, it does nothing.
  void write(std::string_view bytes);

 private:
  bool wait_for_room() const;

  int fd_;
  int parent_;
  bool can_block_;
  bool gone_ = false;
};

}  // namespace ralph
