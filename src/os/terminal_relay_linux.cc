#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/terminal_relay.h"

namespace ralph {
namespace {

constexpr size_t kPiece = 16 * 1024;

bool is_ready(int fd, short events) {
  pollfd one{fd, events, 0};
  return ::poll(&one, 1, 0) > 0 && one.revents != 0;
}

}  // namespace

Result<std::unique_ptr<TerminalRelay>> TerminalRelay::open(int in, int out) {
  std::unique_ptr<TerminalRelay> relay(new TerminalRelay(in, out));
  const auto cannot = [] { return fail(ErrorKind::kIo, "cannot open a terminal: {}", errno_text(errno)); };
  relay->master_ = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  char name[128];
  if (!relay->master_ || ::grantpt(relay->master_.get()) != 0 || ::unlockpt(relay->master_.get()) != 0 ||
      ::ptsname_r(relay->master_.get(), name, sizeof name) != 0)
    return cannot();
  relay->slave_ = Fd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  relay->ready_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!relay->slave_ || !relay->ready_ || ::tcgetattr(in, &relay->before_) != 0) return cannot();
  ::tcsetattr(relay->slave_.get(), TCSANOW, &relay->before_);
  relay->adopt_size();
  termios raw = relay->before_;
  ::cfmakeraw(&raw);
  relay->is_raw_ = ::tcsetattr(in, TCSADRAIN, &raw) == 0;
  relay->listen();
  return relay;
}

TerminalRelay::~TerminalRelay() {
  if (is_raw_) ::tcsetattr(in_, TCSADRAIN, &before_);
}

// Each side is polled for input while its buffer is empty, and for room while bytes for it are pending.
void TerminalRelay::listen() {
  const auto set = [&](int fd, bool reads, bool writes) {
    epoll_event event{};
    event.events = (reads ? EPOLLIN : 0U) | (writes ? EPOLLOUT : 0U);
    event.data.fd = fd;
    ::epoll_ctl(ready_.get(), EPOLL_CTL_DEL, fd, nullptr);
    if (event.events != 0) ::epoll_ctl(ready_.get(), EPOLL_CTL_ADD, fd, &event);
  };
  const bool takes_keys = typed_.bytes.empty() && !typed_.ended,
             takes_output = printed_.bytes.empty() && !printed_.ended;
  set(master_.get(), takes_output, !typed_.bytes.empty());
  if (in_ == out_) {
    set(in_, takes_keys, !printed_.bytes.empty());
  } else {
    set(in_, takes_keys, false);
    set(out_, false, !printed_.bytes.empty());
  }
}

void TerminalRelay::adopt_size() {
  winsize now{}, known{};
  if (::ioctl(in_, TIOCGWINSZ, &now) != 0 || ::ioctl(master_.get(), TIOCGWINSZ, &known) != 0) return;
  if (now.ws_col != known.ws_col || now.ws_row != known.ws_row) ::ioctl(master_.get(), TIOCSWINSZ, &now);
}

void TerminalRelay::pass(int from, int to, Flow& flow) {
  if (flow.bytes.empty() && !flow.ended && is_ready(from, POLLIN)) {
    flow.bytes.resize(kPiece);
    const ssize_t n = ::read(from, flow.bytes.data(), kPiece);
    flow.bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    flow.ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
  }
  while (!flow.bytes.empty() && is_ready(to, POLLOUT)) {
    const ssize_t n = ::write(to, flow.bytes.data(), flow.bytes.size());
    if (n < 0 && errno != EINTR && errno != EAGAIN) flow.bytes.clear();
    if (n <= 0) break;
    flow.bytes.erase(0, static_cast<size_t>(n));
  }
}

void TerminalRelay::move() {
  adopt_size();
  pass(in_, master_.get(), typed_);
  pass(master_.get(), out_, printed_);
  listen();
}

void TerminalRelay::finish() {
  constexpr int kMostPieces = 64;  // a terminal buffers less than this
  for (int i = 0; i < kMostPieces && (is_ready(master_.get(), POLLIN) || !printed_.bytes.empty()) && !printed_.ended;
       ++i)
    pass(master_.get(), out_, printed_);
}

Status take_terminal() {
  ::setsid();  // fails if it already leads one
  if (::ioctl(STDIN_FILENO, TIOCSCTTY, 0) == 0) return {};
  return fail(ErrorKind::kIo, "cannot take the terminal: {}", errno_text(errno));
}

}  // namespace ralph
