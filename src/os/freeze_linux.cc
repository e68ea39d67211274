#include <cerrno>
#include <set>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/freeze.h"

namespace ralph {
namespace {

constexpr Milliseconds kFreezeLimit{200};

void reap(std::vector<int>& children, int awaited) {
  std::erase_if(children, [&](int pid) { return pid != awaited && ::waitpid(pid, nullptr, WNOHANG) == pid; });
}

// Repeats until two lists in a row have nobody new. Each takes microseconds, so one of them catches a process between
// its start and its end.
void stop_new_children(int awaited, const Bystanders& bystanders, MonotonicTime limit) {
  const SystemClock clock;
  std::set<int> known;
  for (int nothing_new = 0; nothing_new < 2 && clock.monotonic() < limit;) {
    std::vector<int> children = child_pids();
    std::erase_if(children, [&](int pid) { return known.contains(pid); });
    nothing_new = children.empty() ? nothing_new + 1 : 0;
    stop_with_groups(children, bystanders);
    reap(children, awaited);  // only now: reaping frees the ids of their groups
    known.insert(children.begin(), children.end());
  }
}

bool is_still(const ProcessInfo& process) {
  return process.state == 'T' || process.state == 't' || process.state == 'D';
}

}  // namespace

void stop_with_groups(const std::vector<int>& children, const Bystanders& bystanders) {
  const pid_t own_session = ::getsid(0);
  std::set<pid_t> stopped;
  for (const int pid : children) {
    if (!bystanders.none()) {
      const auto process = read_process(pid);
      if (!process || bystanders.include(*process)) continue;
    }
    const pid_t group = ::getpgid(pid);
    if (group <= 0 || ::getsid(pid) == own_session) {
      ::kill(pid, SIGSTOP);  // nobody has reaped it, so the pid is still its own
    } else if (stopped.insert(group).second) {
      ::kill(-group, SIGSTOP);
    }
  }
}

void freeze_descendants(int awaited, const Bystanders& bystanders) {
  const SystemClock clock;
  const MonotonicTime limit = clock.monotonic() + kFreezeLimit;
  // A child stopped between its fork and its exit has left a successor that is not ours yet, and a snapshot misses a
  // process that is just being created. So everything must be still twice.
  for (int still = 0; still < 2 && clock.monotonic() < limit;) {
    stop_new_children(awaited, bystanders, limit);
    ++still;
    for (const ProcessInfo& process : descendants_of(::getpid(), bystanders)) {
      if (is_still(process)) continue;
      errno = 0;
      if (!send_signal(process, SIGSTOP) && errno == EPERM) continue;  // another user's
      still = 0;
    }
  }
}

}  // namespace ralph
