#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "os/clock.h"
#include "os/guardian.h"
#include "os/process_tree.h"
#include "os/side_by_side.h"

namespace ralph {
namespace {

constexpr Milliseconds kKillAfter{2'000};    // between SIGTERM and SIGKILL
constexpr Milliseconds kHeldPipeGrace{200};  // for a pipe held open by a process that was left behind
constexpr size_t kReadAtOnce = 256 * 1024;

class SideBySide {
 public:
  SideBySide(const std::vector<SideLaunch>& launches, const SideOptions& options)
      : launches_(launches), options_(options), ends_(launches.size()), buffer_(kReadAtOnce) {
    become_subreaper();
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGCHLD}) ::sigaddset(&set, signal);
    struct sigaction hangup{};
    ::sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) ::sigaddset(&set, SIGHUP);
    ::sigprocmask(SIG_BLOCK, &set, &old_mask_);
    signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    for (size_t i = 0; i < launches.size(); ++i) waiting_.push_back(i);
  }
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;
  ~SideBySide() {
    signals_.close();
    ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  }

  std::vector<SideEnd> run() {
    start_what_fits();
    while (!running_.empty()) {
      wait();
      reap();
      keep_to_limits();
      finish_the_exited();
      start_what_fits();
    }
    if (has_children()) end_all_descendants(stop_leftovers(), before_);
    return std::move(ends_);
  }

 private:
  struct Running {
    size_t index;
    int pid;
    Fd out, err;
    MonotonicTime started;
    bool exited = false;
    MonotonicTime exited_at{};
    std::optional<MonotonicTime> kill_at{};  // it was asked to end, and is killed at this time
    std::vector<ProcessInfo> below{};        // its descendants when it was asked
  };

  size_t width(size_t index) const {
    if (launches_[index].in_turn) return 1;
    return options_.width > 0 ? options_.width : std::max(1u, std::thread::hardware_concurrency());
  }

  void start_what_fits() {
    for (auto next = waiting_.begin(); next != waiting_.end();) {
      const size_t lane = launches_[*next].lane;
      const auto busy = std::count_if(running_.begin(), running_.end(),
                                      [&](const Running& r) { return launches_[r.index].lane == lane; });
      const bool late = !launches_[*next].in_turn && is_late(*next);
      if (!interrupted_ && !late && static_cast<size_t>(busy) >= width(*next)) {
        ++next;
        continue;
      }
      start(*next);
      next = waiting_.erase(next);
    }
  }

  void start(size_t index) {
    SideEnd& end = ends_[index];
    end.began = clock_.monotonic() - began_;
    if (interrupted_ || (!launches_[index].in_turn && is_late(index))) {
      (interrupted_ ? end.interrupted : end.timed_out) = true;
      return report_end(index);
    }
    const SideLaunch& launch = launches_[index];
    if (launch.in_turn) lane_started_.erase(launch.lane);
    lane_started_.try_emplace(launch.lane, clock_.monotonic());
    auto spawned = spawn(launch.launch);
    if (!spawned) {
      end.not_started = spawned.error().message;
      return report_end(index);
    }
    for (const Fd* pipe : {&spawned->out, &spawned->err}) {
      if (*pipe) ::fcntl(pipe->get(), F_SETFL, O_NONBLOCK);
    }
    running_.push_back({index, spawned->pid, std::move(spawned->out), std::move(spawned->err), clock_.monotonic()});
  }

  std::optional<MonotonicTime> deadline_of(size_t index) const {
    const SideLaunch& launch = launches_[index];
    const auto started = lane_started_.find(launch.lane);
    if (launch.limit.count() <= 0 || started == lane_started_.end()) return std::nullopt;
    return started->second + launch.limit;
  }
  bool is_late(size_t index) const {
    const auto deadline = deadline_of(index);
    return deadline && clock_.monotonic() >= *deadline;
  }

  void report_end(size_t index) const {
    if (options_.on_end) options_.on_end(index, ends_[index]);
  }

  void wait() {
    std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0}, {options_.guardian, POLLIN, 0}};
    for (const Running& r : running_) {
      fds.push_back({r.out.get(), POLLIN, 0});
      fds.push_back({r.err.get(), POLLIN, 0});
    }
    int timeout = -1;
    if (const auto wake = next_wake()) {
      timeout = static_cast<int>(std::clamp<long long>((*wake - clock_.monotonic()).count(), 0, 1 << 30));
    }
    if (::poll(fds.data(), fds.size(), timeout) < 0) return;  // interrupted: the caller checks everything again
    if (fds[0].revents) take_signals();
    if (fds[1].revents) exit_without_guardian("");
    for (size_t i = 0; i < running_.size(); ++i) {
      Running& r = running_[i];
      SideEnd& end = ends_[r.index];
      if (fds[2 + 2 * i].revents) read(r.out, end.out, options_.kept_output, end.cut);
      bool ignored = false;
      if (fds[3 + 2 * i].revents) read(r.err, end.err, options_.kept_errors, ignored);
    }
  }

  std::optional<MonotonicTime> next_wake() const {
    std::optional<MonotonicTime> wake;
    const auto by = [&](MonotonicTime time) { wake = wake ? std::min(*wake, time) : time; };
    for (const Running& r : running_) {
      if (r.exited) {
        by(r.exited_at + kHeldPipeGrace);
      } else if (r.kill_at) {
        by(*r.kill_at);
      } else if (const auto deadline = deadline_of(r.index)) {
        by(*deadline);
      }
    }
    return wake;
  }

  void read(Fd& pipe, std::string& kept, size_t most, bool& cut) {
    const ssize_t n = ::read(pipe.get(), buffer_.data(), buffer_.size());
    if (n > 0) {
      const size_t room = most - std::min(most, kept.size());
      kept.append(buffer_.data(), std::min(room, static_cast<size_t>(n)));
      cut = cut || static_cast<size_t>(n) > room;
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      pipe.close();
    }
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGCHLD) continue;
      interrupted_ = true;
      for (Running& r : running_) {
        ends_[r.index].interrupted = true;
        ask_to_end(r);
      }
    }
  }

  void ask_to_end(Running& r) {
    if (r.kill_at || r.exited) return;
    r.below = descendants_of(r.pid);
    ::kill(-r.pid, SIGTERM);  // it leads its own session
    for (const ProcessInfo& process : r.below) send_signal(process, SIGTERM);
    r.kill_at = clock_.monotonic() + kKillAfter;
  }

  void keep_to_limits() {
    const MonotonicTime now = clock_.monotonic();
    for (Running& r : running_) {
      if (!r.exited && !r.kill_at && is_late(r.index)) {
        ends_[r.index].timed_out = true;
        ask_to_end(r);
      }
      if (r.exited || !r.kill_at || now < *r.kill_at) continue;
      for (const ProcessInfo& process : descendants_of(r.pid)) send_signal(process, SIGKILL);
      for (const ProcessInfo& process : r.below) send_signal(process, SIGKILL);
      ::kill(-r.pid, SIGKILL);
      r.kill_at = now + kKillAfter;
    }
  }

  void reap() {
    int raw = 0;
    for (pid_t pid = ::waitpid(-1, &raw, WNOHANG); pid > 0; pid = ::waitpid(-1, &raw, WNOHANG)) {
      const auto r = std::find_if(running_.begin(), running_.end(), [&](const Running& one) { return one.pid == pid; });
      if (r == running_.end()) continue;  // an orphan
      r->exited = true;
      r->exited_at = clock_.monotonic();
      SideEnd& end = ends_[r->index];
      end.took = r->exited_at - r->started;
      end.status = WIFSIGNALED(raw) ? ExitStatus{128 + WTERMSIG(raw), WTERMSIG(raw)} : ExitStatus{WEXITSTATUS(raw), 0};
    }
  }

  // A command that has exited is over when its streams are closed; leftovers may hold them open only for a moment.
  void finish_the_exited() {
    for (auto r = running_.begin(); r != running_.end();) {
      const bool streams = r->out || r->err;
      if (!r->exited || (streams && clock_.monotonic() < r->exited_at + kHeldPipeGrace)) {
        ++r;
        continue;
      }
      for (const ProcessInfo& process : r->below) send_signal(process, SIGKILL);
      const size_t index = r->index;
      r = running_.erase(r);
      report_end(index);
    }
  }

  const std::vector<SideLaunch>& launches_;
  const SideOptions& options_;
  const SystemClock clock_;
  const MonotonicTime began_ = clock_.monotonic();
  const Bystanders before_ = Bystanders::of_this_process(false);
  std::vector<SideEnd> ends_;
  std::vector<size_t> waiting_;
  std::map<size_t, MonotonicTime> lane_started_;
  std::vector<Running> running_;
  std::vector<char> buffer_;
  Fd signals_;
  sigset_t old_mask_{};
  bool interrupted_ = false;
};

}  // namespace

std::vector<SideEnd> run_side_by_side(const std::vector<SideLaunch>& launches, const SideOptions& options) {
  return SideBySide(launches, options).run();
}

}  // namespace ralph
