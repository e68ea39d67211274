#include <algorithm>
#include <cerrno>
#include <ctime>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/process_end.h"

namespace ralph {
namespace {

constexpr Milliseconds kLookForEnd{50};  // without process descriptors

}  // namespace

Fd when_ended(const ProcessInfo& process) {
  if (process.pid <= 0 || process.start_time == 0) return {};
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  // The descriptor pins the process first; comparing start times afterwards leaves no gap for a reused pid.
  return pidfd && start_time_of(process.pid) == process.start_time ? std::move(pidfd) : Fd();
}

bool has_ended(const ProcessInfo& process) {
  if (start_time_of(process.pid) != process.start_time) return true;
  const Fd ended = when_ended(process);
  pollfd waiting{ended.get(), POLLIN, 0};
  return ended && ::poll(&waiting, 1, 0) == 1;
}

bool wait_for_end(const ProcessInfo& process, MonotonicTime until) {
  const SystemClock clock;
  const Fd ended = when_ended(process);
  for (;;) {
    if (has_ended(process)) return true;
    const auto left = std::chrono::duration_cast<Milliseconds>(until - clock.monotonic());
    if (left.count() <= 0) return false;
    if (!ended) reap_children();  // otherwise a child of this process would stay a zombie
    pollfd waiting{ended.get(), POLLIN, 0};
    const Milliseconds most = ended ? left : std::min(left, kLookForEnd);
    if (::poll(&waiting, 1, static_cast<int>(most.count())) < 0 && errno != EINTR) return has_ended(process);
  }
}

}  // namespace ralph
