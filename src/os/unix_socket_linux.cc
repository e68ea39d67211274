#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/unix_socket.h"

namespace ralph {
namespace {

// Addresses the socket through a descriptor of its folder, because a socket path is limited to 107 bytes. The folder
// must stay open while the address is used.
struct ShortAddress {
  Fd folder;
  sockaddr_un address{};

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Result<ShortAddress> address_of(const std::string& path) {
  ShortAddress made;
  made.folder = Fd(::open(parent_path(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!made.folder)
    return fail(errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo, "cannot use the socket {}: {}", path,
                errno_text(errno));
  const std::string name = fmt::format("/proc/self/fd/{}/{}", made.folder.get(), base_name(path));
  if (name.size() >= sizeof made.address.sun_path)
    return fail(ErrorKind::kIo, "cannot use the socket {}: {}", path, errno_text(ENAMETOOLONG));
  made.address.sun_family = AF_UNIX;
  std::memcpy(made.address.sun_path, name.c_str(), name.size() + 1);
  return made;
}

Result<Fd> new_socket(SocketKind kind) {
  Fd socket(::socket(AF_UNIX, (kind == SocketKind::kStream ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC, 0));
  if (!socket) return fail(ErrorKind::kIo, "cannot create a socket: {}", errno_text(errno));
  return socket;
}

}  // namespace

Result<Fd> listen_at(const std::string& path, SocketKind kind) {
  TRY_VALUE(const ShortAddress at, address_of(path));
  TRY_VALUE(Fd socket, new_socket(kind));
  ::unlink(path.c_str());
  const mode_t before = ::umask(0177);  // nobody else can connect, not even between bind() and a chmod()
  const int bound = ::bind(socket.get(), at.get(), sizeof at.address);
  const int error = errno;
  ::umask(before);
  if (bound != 0 || ::listen(socket.get(), SOMAXCONN) != 0)
    return fail(ErrorKind::kIo, "cannot listen at {}: {}", path, errno_text(bound != 0 ? error : errno));
  return socket;
}

Result<Fd> connect_to(const std::string& path, SocketKind kind) {
  TRY_VALUE(const ShortAddress at, address_of(path));
  TRY_VALUE(Fd socket, new_socket(kind));
  if (::connect(socket.get(), at.get(), sizeof at.address) == 0) return socket;
  const bool nobody = errno == ENOENT || errno == ECONNREFUSED;
  return fail(nobody ? ErrorKind::kNotFound : ErrorKind::kIo, "cannot connect to {}: {}", path, errno_text(errno));
}

bool is_listening(int fd) {
  int listens = 0;
  socklen_t size = sizeof listens;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

Status set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return fail(ErrorKind::kIo, "cannot use a socket: {}", errno_text(errno));
  return {};
}

}  // namespace ralph
