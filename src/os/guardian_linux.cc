#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "os/guardian.h"
#include "os/process_tree.h"
#include "os/processes.h"

namespace ralph {
namespace {

int guard(pid_t loop, const sigset_t& signals) {
  for (;;) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&signals, &info);
    if (signal < 0) continue;
    if (signal != SIGCHLD) {
      ::kill(loop, signal);
      ::kill(loop, SIGCONT);  // wakes a loop that an agent has stopped
      continue;
    }
    int status = 0;
    if (::waitpid(loop, &status, WNOHANG) != loop) continue;
    const SweepReport swept = end_all_descendants(stop_abandoned());  // usually nothing is left
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    std::string line = fmt::format("ralph: the loop was killed by {}", signal_name(WTERMSIG(status)));
    if (!swept.ended.empty())
      line += fmt::format("; ended {} that it had started", count_of(swept.ended.size(), "process"));
    for (const ProcessInfo& left : swept.survivors)
      line += fmt::format("\nralph: could not end pid {}: {}", left.pid, left.command);
    static_cast<void>(write_all(STDERR_FILENO, line + "\n", "standard error"));
    return 128 + WTERMSIG(status);
  }
}

tl::unexpected<Error> no_guardian(int error, const sigset_t& before) {
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return fail(
      ErrorKind::kIo,
      "cannot start the process that guards the run: {}; without it a killed run would leave its agent behind, so "
      "nothing was started",
      errno_text(error));
}

}  // namespace

Result<int> run_guarded(const std::function<int(int guardian)>& body) {
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return no_guardian(errno, before);
  Fd alive_read(fds[0]), alive_write(fds[1]);
  std::fflush(nullptr);
  const pid_t loop = ::fork();
  if (loop < 0) return no_guardian(errno, before);
  if (loop == 0) {
    alive_write.close();
    ::setsid();
    // A different name, so that `pkill -9 ralph` leaves one of the two to clean up after the other.
    ::prctl(PR_SET_NAME, "loop");
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    std::exit(body(alive_read.get()));
  }
  alive_read.close();
  become_subreaper();
  const int code = guard(loop, signals);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return code;
}

}  // namespace ralph
