#include "os/run_command.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/poll.h"
#include "os/waiting_signals.h"

namespace ralph {
namespace {

constexpr size_t kKept = 64 * 1024;
constexpr Milliseconds kDeathThroes{2'000};  // after SIGKILL
constexpr Milliseconds kLookForSignals{100};

struct Reading {
  Fd from;
  size_t kept;
  std::string text{};
  bool cut = false;

  // False: end of stream.
  bool read() {
    char buffer[16 * 1024];
    const ssize_t n = ::read(from.get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0) return false;
    const size_t room = kept - text.size();
    text.append(buffer, std::min(room, static_cast<size_t>(n)));
    cut = cut || static_cast<size_t>(n) > room;
    return true;
  }
};

// Closed streams do not mean the end: a command may live on without them. At the deadline it is killed. If it does not
// end even then (stuck in the kernel), it is abandoned and reported as killed.
int wait_for(int pid, MonotonicTime deadline) {
  const SystemClock clock;
  bool killed = false;
  long pause = 50'000;  // nanoseconds: most commands end right after they have closed their streams
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) return SIGKILL;
    if (clock.monotonic() >= deadline) {
      if (killed) return SIGKILL;
      killed = true;
      ::kill(-pid, SIGKILL);  // it leads its own process group
      deadline = clock.monotonic() + kDeathThroes;
    }
    const timespec moment{0, pause};
    ::nanosleep(&moment, nullptr);
    pause = std::min(pause * 2, 10'000'000L);
  }
}

enum class Patience { kToTheEnd, kUntilSignal };

// Reads until both streams are closed, and returns the exit code; nullopt: a signal is pending, and the command was
// killed.
std::optional<int> listen(int pid, Reading& out, Reading& err, Milliseconds limit, Patience patience) {
  const SystemClock clock;
  const MonotonicTime deadline = clock.monotonic() + limit;
  bool signalled = false;
  while (out.from || err.from) {
    pollfd waiting[] = {{out.from.get(), POLLIN, 0}, {err.from.get(), POLLIN, 0}};  // poll ignores a closed one
    const long long left = (deadline - clock.monotonic()).count();
    signalled = patience == Patience::kUntilSignal && stop_signal_is_pending();
    if (left <= 0 || signalled) {
      ::kill(-pid, SIGKILL);  // also anything that still holds a stream after the command itself has ended
      break;
    }
    // A blocked signal does not interrupt poll().
    const long long most = patience == Patience::kUntilSignal ? kLookForSignals.count() : 1 << 30;
    poll_or_look(waiting, static_cast<int>(std::min(left, most)));
    if (waiting[0].revents != 0 && !out.read()) out.from.close();
    if (waiting[1].revents != 0 && !err.read()) err.from.close();
  }
  const int status = wait_for(pid, deadline);
  if (signalled) return std::nullopt;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<CommandResult> run(const Launch& launch, Milliseconds limit, size_t kept_output,
                          Patience patience = Patience::kToTheEnd) {
  TRY_VALUE(Spawned child, spawn(launch));
  Reading out{std::move(child.out), kept_output}, err{std::move(child.err), kKept};
  for (const Reading* stream : {&out, &err}) {
    if (stream->from) ::fcntl(stream->from.get(), F_SETFL, O_NONBLOCK);
  }
  const auto code = listen(child.pid, out, err, limit, patience);
  if (!code) return fail(ErrorKind::kInterrupted, "interrupted");
  return CommandResult{*code, std::move(out.text), std::move(err.text), out.cut};
}

}  // namespace

Result<CommandResult> run_command(Launch launch, Milliseconds limit) {
  launch.merge_streams = true;
  return run(launch, limit, kKept);
}

Result<CommandResult> run_until_signal(Launch launch, Milliseconds limit) {
  launch.merge_streams = true;
  return run(launch, limit, kKept, Patience::kUntilSignal);
}

Result<CommandResult> ask_command(Launch launch, Milliseconds limit, size_t kept_output) {
  launch.merge_streams = false;
  return run(launch, limit, kept_output);
}

}  // namespace ralph
