#include <cerrno>
#include <fcntl.h>
#include <map>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "git/clean_checkout.h"
#include "os/clock.h"
#include "os/poll.h"
#include "os/unix_socket.h"
#include "task/annex.h"
#include "task/annex_folder.h"
#include "task/bus.h"
#include "task/job_protocol.h"

namespace ralph {
namespace {

constexpr size_t kMostClients = 128;
constexpr Milliseconds kPause{50};  // between two scans of the folder, however busy it is

class Inside {
 public:
  explicit Inside(const AnnexPlace& place)
      : place_(place),
        channel_(Fd(STDIN_FILENO), Fd(STDOUT_FILENO)),
        folder_(place.folder, [this](std::string_view path) { return may_machine_write(path, place_); }),
        buses_{{join_path(place.task, kTaskBus), 0}, {std::string(kProjectBus), 0}} {}

  Status serve() {
    TRY(prepare());
    std::vector<pollfd> fds;
    for (;;) {
      while (auto frame = channel_.take()) TRY(handle_event(*frame));
      fds.clear();
      channel_.add_to(fds);
      fds.push_back({changes_.get(), POLLIN, 0});
      fds.push_back({listener_.get(), POLLIN, 0});
      for (const auto& [number, client] : clients_) fds.push_back({client.get(), POLLIN, 0});
      poll_or_look(fds, due_ ? wait_of(*due_) : -1);
      if (!channel_.go_on()) return {};
      if (fds[2].revents != 0) note_change();
      if (due_ && clock_.monotonic() >= *due_) TRY(send_changes());
      for (auto at = fds.begin() + 4; at != fds.end(); ++at)
        if (at->revents != 0) hear_client(at->fd);
      if (fds[3].revents != 0) accept_client();
    }
  }

 private:
  // Removes files that an earlier run left in the machine.
  Status prepare() {
    for (const std::string& task : place_.depends) TRY(remove_tree(join_path(place_.folder, task)));
    const std::string own = join_path(place_.folder, place_.task);
    TRY(remove_tree(own));
    ::unlink(join_path(place_.folder, kProjectBus).c_str());
    TRY(make_directories(join_path(own, "runs")));
    TRY(make_directories(parent_path(place_.socket)));
    TRY_VALUE(listener_, listen_at(place_.socket, SocketKind::kPackets));
    TRY(set_nonblocking(listener_.get()));
    changes_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    constexpr unsigned kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;
    for (const std::string& folder : {own, place_.folder}) {
      if (!changes_ || ::inotify_add_watch(changes_.get(), folder.c_str(), kEvents) < 0)
        return fail(ErrorKind::kIo, "cannot watch {}: {}", folder, errno_text(errno));
    }
    return {};
  }

  int wait_of(MonotonicTime due) const {
    return static_cast<int>(std::max<long long>(0, (due - clock_.monotonic()).count() + 1));
  }

  void note_change() {
    char bytes[16 * 1024];
    while (::read(changes_.get(), bytes, sizeof bytes) > 0) {
    }
    if (!due_) due_ = std::max(clock_.monotonic(), sent_at_ + kPause);
  }

  // Sends everything that is new here.
  Status send_changes() {
    due_.reset();
    for (auto& [path, offset] : buses_) TRY(exchange(path, offset, ""));
    for (const AnnexFrame& frame : folder_.changes()) channel_.send(frame);
    sent_at_ = clock_.monotonic();
    return {};
  }

  // Reading takes a lock and triggers a file event, so do it only if there is something new.
  Status exchange(const std::string& path, std::uint64_t& offset, std::string_view more) {
    struct stat info{};
    const std::string full = join_path(place_.folder, path);
    const bool there = ::lstat(full.c_str(), &info) == 0;
    if (more.empty() && (!there || static_cast<std::uint64_t>(info.st_size) == offset)) return {};
    auto fresh = exchange_messages(full, offset, more);
    // An agent may have put anything there. It then loses only its own bus.
    if (fresh && !fresh->empty()) channel_.send({AnnexWord::kBus, path, 0, *std::move(fresh)});
    return {};
  }

  Status handle_event(const AnnexFrame& frame) {
    switch (frame.word) {
      case AnnexWord::kPut:
      case AnnexWord::kGone:
      case AnnexWord::kGrown:
        static_cast<void>(folder_.apply(frame));  // the next outside scan finds the difference
        break;
      case AnnexWord::kBus:
        for (auto& [path, offset] : buses_)
          if (path == frame.path) return exchange(path, offset, frame.bytes);
        break;
      case AnnexWord::kAnswer:
        if (const auto client = clients_.find(frame.number); client != clients_.end())
          static_cast<void>(send_packet(client->second.get(), frame.bytes));
        break;
      case AnnexWord::kLevel:
        TRY(send_changes());
        channel_.send(frame);
        break;
      case AnnexWord::kLeft:
        clients_.erase(frame.number);
        break;
      case AnnexWord::kJob:
        break;
    }
    return {};
  }

  void accept_client() {
    Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client && clients_.size() < kMostClients) clients_[++last_] = std::move(client);
  }

  void hear_client(int fd) {
    for (auto client = clients_.begin(); client != clients_.end(); ++client) {
      if (client->second.get() != fd) continue;
      const auto packet = receive_packet(fd);
      const auto request = packet ? receive_request(*packet) : tl::unexpected(Error{});
      if (request) {
        channel_.send({AnnexWord::kJob, "", client->first, encode(*request)});
      } else {
        channel_.send({AnnexWord::kLeft, "", client->first});
        clients_.erase(client);
      }
      return;
    }
  }

  const AnnexPlace& place_;
  SystemClock clock_;
  AnnexChannel channel_;
  AnnexFolder folder_;
  std::map<std::string, std::uint64_t> buses_;  // how much of each was exchanged
  Fd listener_, changes_;
  std::map<long long, Fd> clients_;
  long long last_ = 0;
  MonotonicTime sent_at_{};
  std::optional<MonotonicTime> due_;
};

}  // namespace

Status serve_annex_inside(const AnnexPlace& place) {
  ::signal(SIGPIPE, SIG_IGN);
  return Inside(place).serve();
}

}  // namespace ralph
