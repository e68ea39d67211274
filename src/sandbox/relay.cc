#include "sandbox/relay.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ralph {
namespace {

constexpr size_t kRelayPiece = 1 << 20, kCopied = 64 * 1024;
constexpr size_t kMostSpare = 8;
constexpr int kRounds = 8;  // per relay, before others get their turn
constexpr size_t kMostRelays = 512, kFilesOfRelay = 6, kOtherFiles = 64;

bool may_come_later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

std::vector<Relay::Pipe> Relay::spare_;

Relay::~Relay() {
  give_back(to_right_);
  give_back(to_left_);
}

bool Relay::take_pipe(Flow& flow) {
  if (flow.pipe.in) return true;
  if (!spare_.empty()) {
    flow.pipe = std::move(spare_.back());
    spare_.pop_back();
    return true;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  flow.pipe = {Fd(ends[1]), Fd(ends[0])};
  static_cast<void>(
      ::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(kRelayPiece)));  // if this fails, the pipe stays smaller
  return true;
}

// A pipe that still contains bytes must not be reused.
void Relay::give_back(Flow& flow) {
  if (flow.pipe.in && flow.piped == 0 && spare_.size() < kMostSpare) spare_.push_back(std::move(flow.pipe));
  flow.pipe = {};
}

short Relay::events(const Flow& out, const Flow& in) {
  short wanted = 0;
  if (!out.ended && !out.pending()) wanted |= POLLIN;
  if (in.pending()) wanted |= POLLOUT;
  return wanted;
}

void Relay::add_to(std::vector<pollfd>& fds) const {
  const short left = events(to_right_, to_left_), right = events(to_left_, to_right_);
  fds.push_back({left != 0 ? left_.get() : -1, left, 0});
  fds.push_back({right != 0 ? right_.get() : -1, right, 0});
}

// False: nothing to read now, or the connection is broken.
bool Relay::read_on(int from, Flow& flow) {
  if (flow.body || !take_pipe(flow)) return copy_on(from, flow);
  const ssize_t n =
      ::splice(from, nullptr, flow.pipe.in.get(), nullptr, kRelayPiece, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  if (n < 0 && errno == EINVAL) return copy_on(from, flow);  // the kernel does not support this
  if (n < 0) return false;
  flow.piped = static_cast<size_t>(n);
  flow.ended = n == 0;
  return true;
}

bool Relay::copy_on(int from, Flow& flow) {
  flow.first.resize(kCopied);
  flow.at = 0;
  const ssize_t n = ::recv(from, flow.first.data(), flow.first.size(), MSG_DONTWAIT);
  flow.first.resize(n > 0 ? static_cast<size_t>(n) : 0);
  if (n < 0) return false;
  flow.ended = n == 0;
  if (!flow.body) return true;
  flow.first.resize(flow.body->take(flow.first));
  errno = EPROTO;
  return !flow.body->broken();
}

// False: nothing can be written now, or the connection is broken.
bool Relay::write_on(int to, Flow& flow) {
  if (flow.at < flow.first.size()) {
    const ssize_t n = ::send(to, flow.first.data() + flow.at, flow.first.size() - flow.at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return false;
    flow.at += static_cast<size_t>(n);
    if (flow.at == flow.first.size()) flow.first.clear(), flow.at = 0;
    return true;
  }
  const ssize_t n = ::splice(flow.pipe.out.get(), nullptr, to, nullptr, flow.piped, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  if (n == 0) errno = EPIPE;
  if (n <= 0) return false;
  flow.piped -= static_cast<size_t>(n);
  return true;
}

bool Relay::move(int from, int to, Flow& flow) {
  for (int rounds = 0; rounds < kRounds && !flow.shut; ++rounds) {
    if (!flow.pending() && !flow.ended && !read_on(from, flow)) {
      const bool later = may_come_later();
      give_back(flow);
      return later;
    }
    while (flow.pending())
      if (!write_on(to, flow)) return may_come_later();
    // Shut down in the same round that saw the end: nothing would wake us for it later.
    if (flow.ended) {
      ::shutdown(to, SHUT_WR);
      flow.shut = true;
    }
  }
  give_back(flow);
  return true;
}

bool Relay::move() {
  if (!move(left_.get(), right_.get(), to_right_) || !move(right_.get(), left_.get(), to_left_)) return false;
  return !(to_right_.shut && to_left_.shut);
}

size_t most_relays() {
  struct rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return kMostRelays;
  const rlim_t wanted = kMostRelays * kFilesOfRelay + kOtherFiles;
  if (files.rlim_cur < wanted) {
    files.rlim_cur = std::min(wanted, files.rlim_max);
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));
    static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));
  }
  const rlim_t room = files.rlim_cur > kOtherFiles ? (files.rlim_cur - kOtherFiles) / kFilesOfRelay : 1;
  return std::clamp<size_t>(room, 1, kMostRelays);
}

}  // namespace ralph
