#include "os/console_stream.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/poll.h"
#include "os/waiting_signals.h"

namespace ralph {
namespace {

constexpr int kLook = 100;       // milliseconds
constexpr int kPatience = 1000;  // without progress, once ralph is in a hurry

mode_t type_of(int fd) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 ? info.st_mode & S_IFMT : 0;
}

bool has_room(int fd, int milliseconds) {
  pollfd room{fd, POLLOUT, 0};
  // Room, or an error that write() will report.
  return poll_or_look({&room, 1}, milliseconds) != 0 || room.revents != 0;
}

}  // namespace

ConsoleStream::ConsoleStream(int fd)
    : fd_(fd),
      parent_(::getppid()),
      can_block_(type_of(fd) == S_IFIFO || type_of(fd) == S_IFSOCK || ::isatty(fd)),
      is_socket_(type_of(fd) == S_IFSOCK) {
  // A flag on the descriptor itself would be shared with the shell and everybody else who holds it.
  if (can_block_ && !is_socket_)
    own_ = Fd(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

ConsoleStream::~ConsoleStream() {
  drain();
}

bool ConsoleStream::write_some(std::string_view& bytes) {
  const int fd = own_ ? own_.get() : fd_;
  // Without our own descriptor: a pipe that has room accepts this much without blocking.
  const bool shy = can_block_ && !own_ && !is_socket_;
  if (shy && !has_room(fd, 0)) return false;
  const std::string_view piece = shy ? bytes.substr(0, PIPE_BUF) : bytes;
  const ssize_t n = is_socket_ ? ::send(fd, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                               : ::write(fd, piece.data(), piece.size());
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && errno == EAGAIN) return false;
  if (n < 0) give_up(errno);
  bytes.remove_prefix(n < 0 ? bytes.size() : static_cast<size_t>(n));
  return true;
}

// A reader (EPIPE) or terminal (EIO) that went away does not want the rest. Any other error would go unnoticed
// otherwise.
void ConsoleStream::give_up(int error) {
  gone_ = true;
  if (error == EPIPE || error == EIO || fd_ == STDERR_FILENO) return;
  static_cast<void>(write_all(
      STDERR_FILENO, fmt::format("ralph: cannot write to standard output: {}\n", errno_text(error)), "standard error"));
}

bool ConsoleStream::offer(std::string_view bytes) {
  if (gone_) return true;
  if (waiting_.empty()) {
    while (!bytes.empty() && write_some(bytes)) {
    }
  } else if (!keep_all_ && (dropped_ || waiting_.size() + bytes.size() > kMostWaiting)) {
    return false;
  }
  waiting_ += bytes;
  return true;
}

void ConsoleStream::write(std::string_view bytes) {
  if (offer(bytes)) return;
  dropped_ = true;
  lines_dropped_ += static_cast<size_t>(std::ranges::count(bytes, '\n'));
}

void ConsoleStream::keep_all() {
  keep_all_ = true;
  note_dropped();
}

void ConsoleStream::note_dropped() {
  if (!std::exchange(dropped_, false)) return;
  write(fmt::format("\n[ralph] {} not shown: nobody was reading\n",
                    count_of(std::max<size_t>(std::exchange(lines_dropped_, 0), 1), "line")));
}

int ConsoleStream::pending_stdin_fd() const {
  if (gone_ || waiting_.empty()) return -1;
  return own_ ? own_.get() : fd_;
}

void ConsoleStream::write_on() {
  std::string_view bytes = waiting_;
  while (!bytes.empty() && write_some(bytes)) {
  }
  waiting_.erase(0, waiting_.size() - bytes.size());
  if (!waiting_.empty()) return;
  note_dropped();
  if (more_) more_();
}

void ConsoleStream::drain() {
  for (int stalled = 0; pending_stdin_fd() >= 0;) {
    if (has_room(pending_stdin_fd(), kLook)) {
      const size_t before = waiting_.size();
      write_on();
      if (waiting_.size() != before) stalled = 0;
    }
    stalled += kLook;
    if (stalled >= kPatience && (hurried_ || stop_signal_is_pending() || ::getppid() != parent_)) return;
  }
}

}  // namespace ralph
