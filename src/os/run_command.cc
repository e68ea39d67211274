#include "os/run_command.h"

#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"

namespace ralph {
namespace {

constexpr size_t kKept = 64 * 1024;

}  // namespace

Result<CommandResult> run_command(Launch launch, Milliseconds limit) {
  launch.merge_streams = true;
  TRY_VALUE(const Spawned child, spawn(launch));
  const SystemClock clock;
  const MonotonicTime deadline = clock.monotonic() + limit;
  CommandResult result;
  char buffer[16 * 1024];
  for (;;) {
    pollfd waiting{child.out.get(), POLLIN, 0};
    const long long left = (deadline - clock.monotonic()).count();
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) == 0) {
      ::kill(-child.pid, SIGKILL);  // it leads a group of its own
      break;
    }
    const ssize_t n = ::read(child.out.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (result.output.size() < kKept) result.output.append(buffer, static_cast<size_t>(n));
  }
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace ralph
