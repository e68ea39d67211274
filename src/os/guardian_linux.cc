#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/guardian.h"
#include "os/keepers.h"
#include "os/poll.h"
#include "os/process_tree.h"
#include "os/processes.h"

namespace ralph {
namespace {

// How long a keeper may take beyond the stop sequence of its job.
constexpr Milliseconds kKeeperMargin{2'000};
// An agent that stops the loop this often does it on purpose, and could keep it from ever noticing a timeout.
constexpr int kMostStops = 50;
// Snapshots of the tree until no new process appears in it.
constexpr int kPausePasses = 5;

// Stops this process as Ctrl-Z would. Returns when it is continued, or at once if nobody could continue it.
void stop_here() {
  sigset_t suspend;
  ::sigemptyset(&suspend);
  ::sigaddset(&suspend, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &suspend, nullptr);
  ::sigprocmask(SIG_BLOCK, &suspend, nullptr);
}

pid_t the_guardian = 0;  // in the loop, getppid() returns another process once the guardian was killed

void report(std::string line, const SweepReport& swept) {
  if (!swept.ended.empty())
    line += fmt::format("; ended {} that it had started", count_of(swept.ended.size(), "process"));
  for (const ProcessInfo& left : swept.survivors)
    line += fmt::format("\nralph: could not end pid {}: {}", left.pid, left.command);
  if (swept.unseen) line += "\nralph: a process that /proc does not show could not be ended";
  static_cast<void>(write_all(STDERR_FILENO, fmt::format("ralph: {}\n", line), "standard error"));
}

class Guardian {
 public:
  Guardian(pid_t loop, Fd signals, Fd channel, Bystanders bystanders)
      : loop_(loop), signals_(std::move(signals)), channel_(std::move(channel)), bystanders_(std::move(bystanders)) {}

  // Returns when the loop and all jobs have ended.
  int guard() {
    while (!ended_) wait(std::nullopt);
    channel_.close();
    end_jobs();
    const SweepReport swept = end_all_descendants(stop_abandoned(), bystanders_);  // usually nothing is left
    if (WIFEXITED(*ended_)) return WEXITSTATUS(*ended_);
    report(fmt::format("the loop was killed by {}", signal_name(WTERMSIG(*ended_))), swept);
    return 128 + WTERMSIG(*ended_);
  }

 private:
  // Waits for the next signals or the next request, and handles them.
  void wait(std::optional<MonotonicTime> deadline) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {channel_.get(), POLLIN, 0}};
    int timeout = -1;
    if (deadline)
      timeout = static_cast<int>(std::clamp<long long>((*deadline - clock_.monotonic()).count(), 0, 1 << 30));
    if (poll_or_look(fds, timeout) != 0 && !wait_readable(channel_.get(), {})) fds[1].revents = 0;
    if (fds[1].revents != 0) take_request();
    if (fds[0].revents != 0) take_signals();
  }

  void take_request() {
    if (auto packet = receive_packet(channel_.get())) {
      keepers_.carry_out(std::move(*packet));
    } else {
      channel_.close();  // the loop is about to end
    }
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGCHLD) {
        reap();
      } else if (info.ssi_signo == SIGTSTP) {
        pause_all();
      } else if (ended_) {
        hurried_ = true;
      } else {
        ::kill(loop_, static_cast<int>(info.ssi_signo));
        ::kill(loop_, SIGCONT);  // wakes a loop that an agent has stopped
      }
    }
  }

  void reap() {
    int raw = 0;
    constexpr int kHow = WNOHANG | WUNTRACED;
    for (pid_t pid = ::waitpid(-1, &raw, kHow); pid > 0; pid = ::waitpid(-1, &raw, kHow)) {
      if (WIFSTOPPED(raw)) {
        if (pid == loop_) wake_loop();
        continue;
      }
      if (pid == loop_) ended_ = raw;
      if (!keepers_.has(pid)) continue;
      keepers_.forget(pid);
      if (raw != 0) keeper_was_killed_ = true;
    }
    if (keeper_was_killed_ && !ended_) kill_strays();
  }

  // Somebody has stopped the loop, so it sees neither signals nor timeouts.
  void wake_loop() {
    if (++stops_ <= kMostStops) {
      ::kill(loop_, SIGCONT);
      return;
    }
    static_cast<void>(write_all(
        STDERR_FILENO, "ralph: the loop is stopped again and again by a process that it started: the run ends\n",
        "standard error"));
    ::kill(loop_, SIGKILL);
  }

  // Ctrl-Z: the whole tree stops and continues with this process. The loop is stopped first and continued last, so it
  // never sees an agent that does not move.
  void pause_all() {
    const MonotonicTime from = clock_.monotonic();
    int raw = 0;
    if (!ended_) ::kill(loop_, SIGSTOP);
    if (!ended_ && ::waitpid(loop_, &raw, WUNTRACED) == loop_ && !WIFSTOPPED(raw)) ended_ = raw;
    std::vector<ProcessInfo> stopped;
    for (int pass = 0; pass < kPausePasses; ++pass) {
      const size_t before = stopped.size();
      for (const ProcessInfo& process : descendants_of(::getpid(), bystanders_)) {
        if (process.pid == loop_ || process.state == 'T' || contains(stopped, process)) continue;
        if (send_signal(process, SIGSTOP)) stopped.push_back(process);
      }
      if (stopped.size() == before) break;
    }
    stop_here();
    add_pause(clock_.monotonic() - from);
    for (const ProcessInfo& process : stopped) send_signal(process, SIGCONT);
    if (!ended_) ::kill(loop_, SIGCONT);
  }

  // The processes of a job whose keeper was killed are now children of the guardian. Called again as they end, because
  // one that forked meanwhile leaves another.
  void kill_strays() {
    const int self = ::getpid();
    for (const ProcessInfo& stray : descendants_of(self, bystanders_)) {
      if (stray.parent != self || stray.pid == loop_ || keepers_.has(stray.pid)) continue;
      for (const ProcessInfo& below : descendants_of(stray.pid)) send_signal(below, SIGKILL);
      send_signal(stray, SIGKILL);
    }
  }

  // By their own stop sequences, if the loop exited normally and the user is patient.
  void end_jobs() {
    if (WIFEXITED(*ended_)) wait_for_jobs(keepers_.end_all());
    keepers_.abandon_all();
    hurried_ = false;
    Milliseconds limit{0};
    for (const StopStep& step : stop_abandoned()) limit += step.grace;
    wait_for_jobs(limit);
  }

  void wait_for_jobs(Milliseconds limit) {
    const MonotonicTime deadline = clock_.monotonic() + limit + kKeeperMargin;
    while (!keepers_.empty() && !hurried_ && clock_.monotonic() < deadline) wait(deadline);
  }

  const SystemClock clock_;
  const pid_t loop_;
  const Fd signals_;
  Fd channel_;
  const Bystanders bystanders_;
  Keepers keepers_;
  std::optional<int> ended_;        // the wait status of the loop
  int stops_ = 0;                   // how often the loop was stopped by somebody else
  bool keeper_was_killed_ = false;  // by somebody else: should never happen, but agents can do it
  bool hurried_ = false;            // a signal came while jobs were being ended
};

tl::unexpected<Error> no_guardian(const std::string& reason, const sigset_t& before) {
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return fail(
      ErrorKind::kIo,
      "cannot start the process that guards the run: {}; without it a killed run would leave its agent behind, so "
      "nothing was started",
      reason);
}

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

int the_exit_code = 0;  // for a signal handler

// The run is over. A stop signal that comes this late ends the process, but the exit code stays that of the run.
void keep_exit_code(int code, const sigset_t& before) {
  sigset_t late;
  ::sigemptyset(&late);
  for (int signal : kStopSignals) ::sigaddset(&late, signal);
  const timespec at_once{};
  while (::sigtimedwait(&late, nullptr, &at_once) > 0) {
  }
  the_exit_code = code;
  struct sigaction leave{}, old{};
  leave.sa_handler = [](int) { ::_exit(the_exit_code); };
  for (int signal : kStopSignals) {
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_DFL) ::sigaction(signal, &leave, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

Result<int> run_guarded(const std::function<int(int guardian)>& body) {
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (int signal : kStopSignals) ::sigaddset(&signals, signal);
  ::sigaddset(&signals, SIGCHLD);
  struct sigaction suspend{};
  ::sigaction(SIGTSTP, nullptr, &suspend);
  if (suspend.sa_handler != SIG_IGN) ::sigaddset(&signals, SIGTSTP);  // ignored: by a shell without job control
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  Fd arrived(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!arrived) return no_guardian(errno_text(errno), before);
  auto channel = make_packet_pair();
  if (!channel) return no_guardian(channel.error().message, before);
  if (!become_subreaper()) return no_guardian(errno_text(errno), before);
  std::fflush(nullptr);
  share_pauses();
  the_guardian = ::getpid();
  Bystanders bystanders = Bystanders::of_this_process(true);
  // Otherwise an agent of the same user could rewrite the memory of both through /proc. Agents themselves are
  // unaffected: exec() resets the flag.
  ::prctl(PR_SET_DUMPABLE, 0);
  const pid_t loop = ::fork();
  if (loop < 0) return no_guardian(errno_text(errno), before);
  if (loop == 0) {
    arrived.close();
    channel->other.close();
    ::setsid();
    // A different name, so that `pkill -9 ralph` leaves one of the two to clean up after the other.
    ::prctl(PR_SET_NAME, "loop");
    end_with_parent(SIGCONT);  // does not end it: wakes a stopped loop, so that it notices its guardian is gone
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    const int code = body(channel->one.get());
    if (::getppid() == the_guardian) ::kill(the_guardian, SIGCONT);  // if it was stopped, nobody else would wake it
    std::exit(code);
  }
  channel->one.close();
  const int code = Guardian(loop, std::move(arrived), std::move(channel->other), std::move(bystanders)).guard();
  keep_exit_code(code, before);
  return code;
}

int guardian_pid() {
  return the_guardian;
}

void exit_without_guardian(std::string_view advice) {
  const SweepReport swept = end_all_descendants(stop_abandoned());
  pollfd err{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&err, 1, 0) == 1)
    report(fmt::format("ralph was killed{}{}", advice.empty() ? "" : ". ", advice),
           swept);  // does not wait for a reader
  ::_exit(128 + SIGKILL);
}

}  // namespace ralph
