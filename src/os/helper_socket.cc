#include "os/helper_socket.h"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <sys/stat.h>
#include <unistd.h>

#include "os/unix_socket.h"

namespace ralph {

namespace {

constexpr std::string_view kTemporary = "/tmp";
constexpr time_t kSecondsToListen = 60;

std::string socket_in(const std::string& folder, std::string_view name) {
  return join_path(folder, fmt::format("{}.sock", name));
}

// Removes the folders of killed runs: those of this user whose socket has no listener. Young folders are spared: their
// run may be just starting.
void remove_abandoned_sockets(std::string_view name, std::string_view log) {
  const std::string prefix = fmt::format("ralph-{}-", name);
  for (const std::string& entry : names_in(std::string(kTemporary))) {
    if (!entry.starts_with(prefix)) continue;
    const std::string folder = join_path(kTemporary, entry), socket = socket_in(folder, name);
    struct stat info{};
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() ||
        info.st_mtim.tv_sec + kSecondsToListen > ::time(nullptr))
      continue;
    const auto living = connect_to(socket, SocketKind::kStream);
    if (living || living.error().kind != ErrorKind::kNotFound) continue;
    ::unlink(socket.c_str());
    if (!log.empty()) ::unlink(join_path(folder, log).c_str());
    ::rmdir(folder.c_str());  // fails if anything else is in it
  }
}

}  // namespace

void HelperSocket::remove() {
  if (folder.empty()) return;
  ::unlink(socket.c_str());
  ::rmdir(folder.c_str());
}

Result<HelperSocket> open_helper_socket(std::string_view name, std::string_view log) {
  remove_abandoned_sockets(name, log);
  std::string folder = fmt::format("{}/ralph-{}-XXXXXX", kTemporary, name);
  if (!::mkdtemp(folder.data())) return fail(ErrorKind::kIo, "cannot create {}: {}", folder, errno_text(errno));
  HelperSocket door;
  door.folder = real_path(folder);
  door.socket = socket_in(door.folder, name);
  TRY_VALUE(door.listener, listen_at(door.socket, SocketKind::kStream));
  return door;
}

}  // namespace ralph
