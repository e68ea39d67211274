#include "os/console_stream.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"

namespace ralph {
namespace {

constexpr int kLook = 100;       // milliseconds
constexpr int kPatience = 1000;  // without progress, once ralph is asked to stop

bool is_pipe_or_terminal(int fd) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || ::isatty(fd));
}

// The loop reads its signals from a queue; this sees those that are still pending.
bool asked_to_stop() {
  sigset_t pending;
  if (::sigpending(&pending) != 0) return false;
  return ::sigismember(&pending, SIGINT) == 1 || ::sigismember(&pending, SIGTERM) == 1 ||
         ::sigismember(&pending, SIGHUP) == 1 || ::sigismember(&pending, SIGQUIT) == 1;
}

}  // namespace

ConsoleStream::ConsoleStream(int fd) : fd_(fd), parent_(::getppid()), can_block_(is_pipe_or_terminal(fd)) {}

bool ConsoleStream::wait_for_room() const {
  for (int stalled = 0;; stalled += kLook) {
    pollfd room{fd_, POLLOUT, 0};
    if (::poll(&room, 1, kLook) != 0) return true;  // room, or an error that write() will report
    if (stalled >= kPatience && (asked_to_stop() || ::getppid() != parent_)) return false;
  }
}

void ConsoleStream::write(std::string_view bytes) {
  while (!bytes.empty() && !gone_) {
    // A writable pipe accepts this much without blocking.
    const std::string_view piece = can_block_ ? bytes.substr(0, PIPE_BUF) : bytes;
    gone_ = (can_block_ && !wait_for_room()) || !write_all(fd_, piece, "the console");
    bytes.remove_prefix(piece.size());
  }
}

}  // namespace ralph
