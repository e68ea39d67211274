#include "os/poll.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <sys/socket.h>

#include "os/clock.h"

namespace ralph {
namespace {

// Whether recv() would return at once, with bytes, end of file or an error.
bool would_answer(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

}  // namespace

void sleep_for(Milliseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const timespec moment{seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
  ::nanosleep(&moment, nullptr);
}

int poll_or_look(std::span<pollfd> fds, int timeout) {
  if (::poll(fds.data(), fds.size(), timeout) >= 0) return 0;
  const int error = errno;
  for (pollfd& fd : fds) fd.revents = 0;
  if (error == EINTR) return 0;
  sleep_for(timeout < 0 ? kRefusedPollPause : std::min(kRefusedPollPause, Milliseconds(timeout)));
  for (pollfd& fd : fds) fd.revents = fd.fd >= 0 ? fd.events : short{0};
  return error;
}

bool wait_readable(int fd, MonotonicTime deadline) {
  const SystemClock clock;
  for (;;) {
    pollfd waiting{fd, POLLIN, 0};
    const long long left = std::clamp<long long>((deadline - clock.monotonic()).count(), 0, 1 << 30);
    const bool refused = poll_or_look({&waiting, 1}, static_cast<int>(left)) != 0;
    if (waiting.revents != 0 && (!refused || would_answer(fd))) return true;
    if (clock.monotonic() >= deadline) return false;
  }
}

}  // namespace ralph
