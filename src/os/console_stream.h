// Standard output or standard error, whose reader may be slow, asleep (`| less`, Ctrl-S, a hung ssh) or gone.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "os/files.h"
#include "os/outlet.h"

namespace ralph {

class ConsoleStream : public Outlet {
 public:
  static constexpr size_t kMostWaiting = 1 << 20;  // bytes

  explicit ConsoleStream(int fd);
  // Waits for the reader, unless hurry() was called, ralph is asked to stop or the guardian is gone: then a reader that
  // accepts nothing for a second is given up.
  ~ConsoleStream() override;
  ConsoleStream(const ConsoleStream&) = delete;
  ConsoleStream& operator=(const ConsoleStream&) = delete;

  // Never waits: what the reader does not accept now is written by write_on(). If more than kMostWaiting bytes would
  // wait, `bytes` are dropped, and a line says so where they are missing. Once the reader has closed the stream, this
  // does nothing.
  void write(std::string_view bytes);

  // The same for a writer that can give the bytes again later: false: they would be dropped, so nothing was taken.
  bool offer(std::string_view bytes);

  // Called when everything that waited is written.
  void when_empty(std::function<void()> more) { more_ = std::move(more); }

  // From now on nothing is dropped: for the last words, which matter most.
  void keep_all();

  void hurry() { hurried_ = true; }

  int wants_room() const override;
  void write_on() override;

 private:
  bool write_some(std::string_view& bytes);  // false: no room
  void give_up(int error);
  void drain();
  void note_dropped();

  int fd_;
  Fd own_;  // the same pipe or terminal, opened anew: only there may it be told not to block
  int parent_;
  bool can_block_, is_socket_;
  bool gone_ = false, hurried_ = false, keep_all_ = false;
  std::string waiting_;
  size_t lines_dropped_ = 0;
  bool dropped_ = false;
  std::function<void()> more_;
};

}  // namespace ralph
