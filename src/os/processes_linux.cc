#include "os/processes_linux.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/freeze.h"
#include "os/jobs.h"
#include "os/poll.h"

namespace ralph {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;
// How often to check processes that are being ended. SIGCHLD reports our own children at once.
constexpr Milliseconds kEndingPoll{20};
// How long to wait for a pipe that a process outside our tree holds open after all of ours have ended.
constexpr Milliseconds kDrainGrace{200};
// More than two pipes can hold: any further output comes from a process that is not ours.
constexpr size_t kDrainBytes = 4 << 20;
// So many refused waits in a row mean a lasting condition, not a bad moment.
constexpr int kFailedWaits = 10;

sigset_t signals_we_take() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGQUIT, SIGCHLD, SIGIO}) ::sigaddset(&set, signal);
  struct sigaction hangup{};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) ::sigaddset(&set, SIGHUP);  // ignored: started with nohup
  return set;
}

ExitStatus to_status(int raw) {
  if (WIFSIGNALED(raw)) return {128 + WTERMSIG(raw), WTERMSIG(raw)};
  return {WEXITSTATUS(raw), 0};
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

LinuxProcesses::LinuxProcesses(const Clock& clock, int guardian)
    : clock_(clock), guardian_(guardian), parent_(::getppid()) {
  become_subreaper();
  const sigset_t set = signals_we_take();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error to report, not a reason to die
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  signals_error_ = errno;
  buffer_.resize(kBufferBytes);
}

LinuxProcesses::~LinuxProcesses() {
  if (active_) end_all_descendants(stop_abandoned());
}

Status LinuxProcesses::start(const Launch& launch) {
  if (!signals_) return fail(ErrorKind::kIo, "cannot receive signals: {}", errno_text(signals_error_));
  TRY_VALUE(Spawned spawned, spawn(launch));
  begin(std::move(spawned));
  return {};
}

void LinuxProcesses::adopt(int pid) {
  begin({pid, {}, {}});
}

void LinuxProcesses::begin(Spawned spawned) {
  pid_ = spawned.pid;
  out_ = std::move(spawned.out);
  err_ = std::move(spawned.err);
  for (const Fd* pipe : {&out_, &err_}) {
    if (*pipe) ::fcntl(pipe->get(), F_SETFL, O_NONBLOCK);
  }
  active_ = true;
  ending_.reset();
  drain_ends_.reset();
}

void LinuxProcesses::end(const StopSequence& sequence) {
  if (!active_) return;
  if (ending_) {
    ending_->restart(sequence);
  } else {
    ending_.emplace(sequence, [this](int signal) { return look(signal); });
  }
}

Status LinuxProcesses::watch_file(const std::string& path) {
  if (!folders_.add(parent_path(path))) return files_.add(path);
  if (std::ranges::find(files_in_folders_, path) == files_in_folders_.end()) files_in_folders_.push_back(path);
  return {};
}

void LinuxProcesses::collect_file_changes() {
  for (std::string& path : files_.take_changes()) waiting_.push_back(FileChanged{std::move(path)});
}

void LinuxProcesses::collect_ended_jobs() {
  for (JobEnded& ended : jobs_->take_ended()) waiting_.push_back(std::move(ended));
}

void LinuxProcesses::collect_ended_children() {
  int raw = 0;
  for (pid_t pid = ::waitpid(-1, &raw, WNOHANG); pid > 0; pid = ::waitpid(-1, &raw, WNOHANG)) {
    if (ending_) ending_->look_soon();
    if (pid != pid_) continue;
    pid_ = 0;
    waiting_.push_back(Exited{to_status(raw)});
    if (!ending_) end(stop_leftovers());
  }
}

void LinuxProcesses::collect_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGCHLD) {
      collect_ended_children();
    } else if (info.ssi_signo == SIGIO) {
      for (const std::string& path : files_in_folders_) waiting_.push_back(FileChanged{path});
    } else {
      waiting_.push_back(SignalArrived{static_cast<int>(info.ssi_signo)});
    }
  }
}

std::optional<Event> LinuxProcesses::read_output(Fd& pipe, StreamName stream) {
  const ssize_t n = ::read(pipe.get(), buffer_.data(), buffer_.size());
  if (n > 0) {
    drain_left_ -= std::min(drain_left_, static_cast<size_t>(n));
    return Output{stream, {buffer_.data(), static_cast<size_t>(n)}};
  }
  if (n == 0 || (errno != EAGAIN && errno != EINTR)) pipe.close();
  return std::nullopt;
}

Remaining LinuxProcesses::look(int signal) {
  if (signal == SIGKILL) freeze_descendants(pid_);
  Remaining left;
  left.living = descendants_of_this_process();
  std::erase_if(left.living, [&](const ProcessInfo& process) { return contains(survivors_, process); });
  if (!left.living.empty()) return left;
  // Either only processes that an earlier sweep could not end are left, or a process is just changing its state, or
  // /proc does not show it.
  collect_ended_children();
  left.unseen = pid_ != 0 || (has_children() && survivors_.empty() && !unseen_);
  return left;
}

bool LinuxProcesses::advance_ending() {
  const bool nothing_left = pid_ == 0 && !has_children();
  if (!nothing_left && !ending_->advance(clock_.monotonic())) return false;
  if (nothing_left) ending_->all_have_ended();
  swept_ = ending_->report();
  survivors_.insert(survivors_.end(), swept_.survivors.begin(), swept_.survivors.end());
  unseen_ = unseen_ || swept_.unseen;
  child_lives_ = pid_ != 0;
  pid_ = 0;
  return true;
}

Event LinuxProcesses::finish() {
  Finished finished{std::move(swept_), child_lives_};
  active_ = false;
  ending_.reset();
  drain_ends_.reset();
  out_.close();
  err_.close();
  return finished;
}

std::optional<MonotonicTime> LinuxProcesses::wake_up_time(std::optional<MonotonicTime> deadline) const {
  if (!ending_) return deadline;
  MonotonicTime wake = clock_.monotonic() + kEndingPoll;
  if (drain_ends_) wake = *drain_ends_;
  return deadline ? std::min(*deadline, wake) : wake;
}

// A brief shortage of kernel memory is not worth reporting: nothing is lost, because every source is checked.
void LinuxProcesses::handle_failed_wait(int error) {
  if (++failed_waits_ < kFailedWaits || std::exchange(reported_, true)) return;
  waiting_.push_back(WaitFailed{error});
}

Event LinuxProcesses::next(std::optional<MonotonicTime> deadline) {
  for (;;) {
    if (!waiting_.empty()) {
      Event event = std::move(waiting_.front());
      waiting_.pop_front();
      return event;
    }
    if (deadline && clock_.monotonic() >= *deadline) return DeadlinePassed{};
    if (active_ && ending_ && !drain_ends_ && advance_ending()) {
      drain_ends_ = clock_.monotonic() + kDrainGrace;
      drain_left_ = kDrainBytes;
    }
    if (!waiting_.empty()) continue;
    if (drain_ends_ && ((!out_ && !err_) || drain_left_ == 0)) return finish();

    std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0}, {out_.get(), POLLIN, 0},
                               {err_.get(), POLLIN, 0},     {files_.descriptor(), POLLIN, 0},
                               {guardian_, POLLIN, 0},      {jobs_ ? jobs_->descriptor() : -1, POLLIN, 0},
                               {watched_, POLLIN, 0}};
    const size_t first_outlet = fds.size();
    for (const Outlet* outlet : outlets_) fds.push_back({outlet->pending_stdin_fd(), POLLOUT, 0});
    int timeout = -1;
    if (const auto wake = wake_up_time(deadline)) {
      timeout = static_cast<int>(std::clamp<long long>((*wake - clock_.monotonic()).count(), 0, 1 << 30));
    }
    const int refused = poll_or_look(fds, timeout);
    if (refused != 0) {
      handle_failed_wait(refused);
      if (::getppid() == parent_) fds[4].revents = 0;  // its channel is never read, so it is always "ready"
    } else {
      failed_waits_ = 0;
    }

    for (size_t i = 0; i < outlets_.size(); ++i) {
      if (fds[first_outlet + i].revents) outlets_[i]->write_on();
    }
    if (fds[0].revents) collect_signals();
    if (fds[3].revents) collect_file_changes();
    if (fds[5].revents) collect_ended_jobs();
    if (fds[6].revents) waiting_.push_back(DescriptorReady{watched_});
    if (fds[4].revents) {
      guardian_ = -1;
      waiting_.push_front(GuardianLost{});
    }
    // Signals first: a flood of output must not delay the user's Ctrl-C. If waits are refused, every check may yield an
    // event, which must not keep output from being read.
    if (refused == 0 && !waiting_.empty() && !std::holds_alternative<Exited>(waiting_.front())) continue;
    if (fds[1].revents) {
      if (auto event = read_output(out_, StreamName::kOut)) return *event;
    }
    if (fds[2].revents) {
      if (auto event = read_output(err_, StreamName::kErr)) return *event;
    }
    // The deadline counts only when there is nothing to read: a slow disk or console must not lose the last output.
    const bool nothing_to_read = refused != 0 || (!fds[1].revents && !fds[2].revents);
    if (drain_ends_ && nothing_to_read && clock_.monotonic() >= *drain_ends_) return finish();
  }
}

}  // namespace ralph
