#include "sandbox/relay.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace ralph {
namespace {

constexpr size_t kPiece = 128 * 1024;

// The folder stays open as long as its address is used: a socket's name is limited to 107 bytes, a descriptor's is not.
struct ShortAddress {
  Fd folder;
  sockaddr_un address{};
};

Result<ShortAddress> address_of(const std::string& path) {
  ShortAddress made;
  made.folder = Fd(::open(parent_path(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string name = fmt::format("/proc/self/fd/{}/{}", made.folder.get(), base_name(path));
  if (!made.folder || name.size() >= sizeof made.address.sun_path)
    return fail(ErrorKind::kIo, "cannot use the socket {}: {}", path, errno_text(made.folder ? ENAMETOOLONG : errno));
  made.address.sun_family = AF_UNIX;
  std::memcpy(made.address.sun_path, name.c_str(), name.size() + 1);
  return made;
}

bool may_come_later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

short Relay::events(const Flow& out, const Flow& in) {
  short wanted = 0;
  if (!out.ended && !out.pending()) wanted |= POLLIN;
  if (in.pending()) wanted |= POLLOUT;
  return wanted;
}

bool Relay::move(int from, int to, Flow& flow) {
  for (int rounds = 0; rounds < 8; ++rounds) {
    if (!flow.pending() && !flow.ended) {
      if (flow.bytes.size() < kPiece) flow.bytes.resize(kPiece);
      const ssize_t n = ::recv(from, flow.bytes.data(), kPiece, MSG_DONTWAIT);
      flow.at = 0;
      flow.end = n > 0 ? static_cast<size_t>(n) : 0;
      if (n == 0) flow.ended = true;
      if (n < 0) return may_come_later();
    }
    if (flow.pending()) {
      const ssize_t n = ::send(to, flow.bytes.data() + flow.at, flow.end - flow.at, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0) return may_come_later();
      flow.at += static_cast<size_t>(n);
      if (flow.pending()) return true;
    }
    if (flow.ended) {
      if (!flow.shut) ::shutdown(to, SHUT_WR);
      flow.shut = true;
      return true;
    }
  }
  return true;
}

bool Relay::move() {
  if (!move(left_.get(), right_.get(), to_right_) || !move(right_.get(), left_.get(), to_left_)) return false;
  return !(to_right_.shut && to_left_.shut);
}

Status set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return fail(ErrorKind::kIo, "cannot use a socket: {}", errno_text(errno));
  return {};
}

Result<Fd> listen_at(const std::string& path) {
  TRY_VALUE(const ShortAddress at, address_of(path));
  ::unlink(path.c_str());
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* address = reinterpret_cast<const sockaddr*>(&at.address);
  if (!socket || ::bind(socket.get(), address, sizeof at.address) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return fail(ErrorKind::kIo, "cannot listen at {}: {}", path, errno_text(errno));
  return socket;
}

Result<Fd> connect_to(const std::string& path) {
  TRY_VALUE(const ShortAddress at, address_of(path));
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at.address), sizeof at.address) != 0)
    return fail(ErrorKind::kIo, "cannot connect to {}: {}", path, errno_text(errno));
  return socket;
}

}  // namespace ralph
