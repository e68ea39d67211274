#include <cerrno>
#include <fcntl.h>
#include <map>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/file_watch.h"
#include "os/packets.h"
#include "os/poll.h"
#include "os/unix_socket.h"
#include "task/annex.h"
#include "task/annex_folder.h"
#include "task/bus.h"
#include "task/job_protocol.h"

namespace ralph {
namespace {

constexpr Milliseconds kPatience{120'000};  // the machine may have to be started first
constexpr size_t kCarriedAtOnce = 1 << 20;
constexpr int kMostStarts = 2;  // per request

class Outside {
 public:
  Outside(const AnnexPlace& place, const Launch& inside, int control)
      : place_(place), inside_(inside), control_(control), folder_(fresh_folder()) {}
  ~Outside() { end_inside(); }

  Status serve() {
    for (const std::string& path : {join_path(place_.task, kTaskBus), std::string(kProjectBus)}) {
      buses_[path] = 0;
      TRY(watch_.add(join_path(place_.folder, path)));
    }
    std::vector<pollfd> fds;
    for (;;) {
      while (auto frame = channel_.take()) handle_event(*frame);
      fds.clear();
      channel_.add_to(fds);
      fds.push_back({control_, POLLIN, 0});
      fds.push_back({watch_.descriptor(), POLLIN, 0});
      for (const auto& [number, job] : jobs_) fds.push_back({job.socket.get(), POLLIN, 0});
      poll_or_look(fds, asked_ ? wait_of(until_) : -1);
      if (fds[3].revents != 0) {
        watch_.take_changes();
        send_growth();
      }
      for (auto at = fds.begin() + 4; at != fds.end(); ++at)
        if (at->revents != 0) hear_supervisor(at->fd);
      if (channel_.is_open() && !channel_.go_on()) {
        while (auto frame = channel_.take()) handle_event(*frame);
        end_inside();
        // The machine may have been stopped. Try to start it again.
        if (asked_) begin_to_level();
      }
      if (asked_ && clock_.monotonic() >= until_) {
        end_inside();
        answer("the machine does not answer");
      }
      if (fds[2].revents != 0 && !hear_control()) return {};
    }
  }

 private:
  struct Tail {
    std::string path;
    std::uint64_t sent = 0;
  };
  struct Job {
    Fd socket;
    std::vector<Tail> tails;
  };

  AnnexFolder fresh_folder() {
    return AnnexFolder(place_.folder, [this](std::string_view path) { return is_shared_with_machine(path, place_); });
  }

  int wait_of(MonotonicTime due) const {
    return static_cast<int>(std::max<long long>(0, (due - clock_.monotonic()).count() + 1));
  }

  // False if there will be no more requests.
  bool hear_control() {
    const auto packet = receive_packet(control_);
    if (!packet) return false;
    asked_ = true;
    starts_ = 0;
    until_ = clock_.monotonic() + kPatience;
    begin_to_level();
    return true;
  }

  void begin_to_level() {
    if (!channel_.is_open()) {
      if (++starts_ > kMostStarts)
        return answer("the process in the machine ends immediately; machine.log has its output");
      if (const Status started = start_inside(); !started) return answer(started.error().message);
    }
    for (auto& [path, offset] : buses_) exchange(path, offset, "");
    for (const AnnexFrame& frame : folder_.changes()) channel_.send(frame);
    channel_.send({AnnexWord::kLevel, "", ++level_});
  }

  void answer(const std::string& text) {
    if (asked_) static_cast<void>(send_packet(control_, "annex " + text));
    asked_ = false;
  }

  Status start_inside() {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0) return fail(ErrorKind::kIo, "{}", errno_text(errno));
    Fd to_read(to[0]), to_write(to[1]);
    if (::pipe2(from, O_CLOEXEC) != 0) return fail(ErrorKind::kIo, "{}", errno_text(errno));
    Fd from_read(from[0]), from_write(from[1]);
    TRY_VALUE(pid_, spawn_on(inside_, {to_read.get(), from_write.get(), STDERR_FILENO}));
    channel_ = AnnexChannel(std::move(from_read), std::move(to_write));
    folder_ = fresh_folder();  // the new process has no files yet
    for (auto& [path, offset] : buses_) offset = 0;
    return {};
  }

  void end_inside() {
    channel_.close();
    jobs_.clear();  // their clients are gone, but the jobs keep running
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
  }

  void exchange(const std::string& path, std::uint64_t& offset, std::string_view more) {
    struct stat info{};
    const std::string full = join_path(place_.folder, path);
    const bool there = ::lstat(full.c_str(), &info) == 0;
    if (more.empty() && (!there || static_cast<std::uint64_t>(info.st_size) == offset)) return;
    auto fresh = exchange_messages(full, offset, more);
    if (!fresh) {
      complain(fresh.error().message);
    } else if (!fresh->empty()) {
      channel_.send({AnnexWord::kBus, path, 0, *std::move(fresh)});
    }
  }

  void send_growth() {
    if (!channel_.is_open()) return;
    for (auto& [path, offset] : buses_) exchange(path, offset, "");
    for (auto& [number, job] : jobs_) send_output(job);
  }

  void send_output(Job& job) {
    for (Tail& tail : job.tails) {
      const Fd file(
          ::open(join_path(place_.folder, tail.path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
      std::string bytes(kCarriedAtOnce, '\0');
      for (ssize_t n = 0;
           file && (n = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(tail.sent))) > 0;
           tail.sent += static_cast<std::uint64_t>(n))
        channel_.send({AnnexWord::kGrown, tail.path, 0, bytes.substr(0, static_cast<size_t>(n))});
    }
  }

  // Nothing that the machine sends is trusted.
  void handle_event(const AnnexFrame& frame) {
    switch (frame.word) {
      case AnnexWord::kPut:
      case AnnexWord::kGone:
        if (!may_machine_write(frame.path, place_)) {
          complain(fmt::format("the machine must not write {}", frame.path));
        } else if (const Status done = folder_.apply(frame); !done) {
          complain(done.error().message);
        }
        break;
      case AnnexWord::kBus:
        if (const auto bus = buses_.find(frame.path); bus != buses_.end())
          exchange(bus->first, bus->second, frame.bytes);
        break;
      case AnnexWord::kJob:
        begin_job(frame);
        break;
      case AnnexWord::kLeft:
        jobs_.erase(frame.number);
        break;
      case AnnexWord::kLevel:
        if (frame.number == level_) answer("");
        break;
      case AnnexWord::kGrown:
      case AnnexWord::kAnswer:
        break;
    }
  }

  void begin_job(const AnnexFrame& frame) {
    const auto request = decode_child_request(frame.bytes);
    auto socket = connect_to(place_.socket, SocketKind::kPackets);
    Status sent = request ? Status() : tl::unexpected(request.error());
    if (sent && !socket) sent = tl::unexpected(socket.error());
    if (sent) sent = send_request(socket->get(), *request);
    if (!sent) {
      channel_.send({AnnexWord::kAnswer, "", frame.number, encode(ChildStarted{{}, {}, sent.error().message})});
      return;
    }
    jobs_[frame.number] = {*std::move(socket), {}};
  }

  void hear_supervisor(int fd) {
    for (auto at = jobs_.begin(); at != jobs_.end(); ++at) {
      auto& [number, job] = *at;
      if (job.socket.get() != fd) continue;
      const auto packet = receive_packet(fd);
      if (!packet) {
        channel_.send({AnnexWord::kLeft, "", number});
        jobs_.erase(at);
        return;
      }
      if (job.tails.empty()) begin_to_follow(job, packet->bytes);
      send_output(job);  // before its end
      channel_.send({AnnexWord::kAnswer, "", number, packet->bytes});
      return;
    }
  }

  // Begins to send the child run's output files, which are read inside while they grow.
  void begin_to_follow(Job& job, std::string_view answer) {
    const auto started = decode_started(answer);
    const std::string below = join_path(place_.folder, place_.task) + "/runs/";
    if (!started || !started->folder.starts_with(below)) return;
    for (const char* name : {"agent-stdout.txt", "agent-stderr.txt"}) {
      const std::string path = join_path(started->folder, name);
      static_cast<void>(watch_.add(path, FileWatch::Growth::kWatched));
      job.tails.push_back({path.substr(place_.folder.size() + 1)});
      channel_.send({AnnexWord::kGrown, job.tails.back().path});
    }
  }

  static void complain(const std::string& text) {
    static_cast<void>(write_all(STDERR_FILENO, "ralph: " + text + "\n", "standard error"));
  }

  const AnnexPlace& place_;
  const Launch& inside_;
  const int control_;
  SystemClock clock_;
  AnnexChannel channel_;
  AnnexFolder folder_;
  std::map<std::string, std::uint64_t> buses_;
  FileWatch watch_;
  std::map<long long, Job> jobs_;
  int pid_ = 0;
  long long level_ = 0;
  int starts_ = 0;
  bool asked_ = false;
  MonotonicTime until_{};
};

}  // namespace

Status serve_annex_outside(const AnnexPlace& place, const Launch& inside, int control) {
  ::signal(SIGPIPE, SIG_IGN);
  return Outside(place, inside, control).serve();
}

}  // namespace ralph
