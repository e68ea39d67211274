// Standard output or standard error, whose reader may be slow, stuck (`| less`, Ctrl-S, a hung ssh) or gone.
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
  // Waits for the reader, unless hurry() was called, ralph is asked to stop or the guardian is gone. In those cases it
  // gives up on a reader that accepts nothing for a second.
  ~ConsoleStream() override;
  ConsoleStream(const ConsoleStream&) = delete;
  ConsoleStream& operator=(const ConsoleStream&) = delete;

  // Never blocks: bytes that the reader does not accept now are written later by write_on(). If more than kMostWaiting
  // bytes would be pending, `bytes` are dropped and a line marks the gap. Does nothing once the reader has closed the
  // stream.
  void write(std::string_view bytes);

  // Like write(), for a caller that can offer the bytes again later. False: they would be dropped, so nothing was
  // taken.
  bool offer(std::string_view bytes);

  // `more` is called whenever all pending bytes have been written.
  void when_empty(std::function<void()> more) { more_ = std::move(more); }

  // From now on nothing is dropped: for the final messages, which matter most.
  void keep_all();

  void hurry() { hurried_ = true; }

  int pending_stdin_fd() const override;
  void write_on() override;

 private:
  bool write_some(std::string_view& bytes);  // false: no room
  void give_up(int error);
  void drain();
  void note_dropped();

  int fd_;
  Fd own_;  // the same pipe or terminal, reopened: only this description may be set to O_NONBLOCK
  int parent_;
  bool can_block_, is_socket_;
  bool gone_ = false, hurried_ = false, keep_all_ = false;
  std::string waiting_;
  size_t lines_dropped_ = 0;
  bool dropped_ = false;
  std::function<void()> more_;
};

}  // namespace ralph
