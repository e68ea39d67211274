#include "checks/lsp/warm.h"

#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

#include "checks/lsp/hub.h"
#include "os/poll.h"
#include "os/unix_socket.h"

namespace ralph::lsp {
namespace {

constexpr size_t kMostReply = 256 << 20;
constexpr Milliseconds kStatusPatience{1'000};

Status send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(ErrorKind::kIo, "cannot ask the language servers: {}", errno_text(errno));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace

Result<json::object> ask_hub(const std::string& socket, const json::object& request, Milliseconds limit) {
  TRY_VALUE(const Fd fd, connect_to(socket, SocketKind::kStream));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || (peer.uid != ::geteuid() && peer.uid != 0))
    return fail(ErrorKind::kIo, "{} belongs to another user; remove it", socket);
  TRY(send_all(fd.get(), to_compact_json(request) + "\n"));
  const SystemClock clock;
  const MonotonicTime until = limit.count() > 0 ? clock.monotonic() + limit : MonotonicTime::max();
  std::string line;
  while (!line.ends_with('\n')) {
    const MonotonicTime now = clock.monotonic();
    // At most an int of milliseconds at a time.
    if (!wait_readable(fd.get(), std::min(until, now + Milliseconds(1 << 30)))) {
      if (clock.monotonic() < until) continue;
      return fail(ErrorKind::kIo, "the language servers (pid {}) did not answer within {}; 'ralph lsp stop' ends them",
                  peer.pid, human_duration(limit));
    }
    char buffer[65536];
    const ssize_t n = ::recv(fd.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || line.size() > kMostReply)
      return fail(ErrorKind::kIo, "the language servers ended before they had answered");
    line.append(buffer, static_cast<size_t>(n));
  }
  TRY_VALUE(const json::value reply, parse_json(line, "the reply of the language servers"));
  if (find_integer(reply, "version") != kProtocolVersion)
    return fail(ErrorKind::kIo,
                "the language servers were started by another version of ralph; "
                "'ralph lsp stop', then 'ralph lsp start'");
  return reply.as_object();
}

std::vector<std::string> warm_servers(const std::string& socket) {
  std::vector<std::string> names;
  const auto status = ask_hub(socket, {{"do", "status"}}, kStatusPatience);
  for (const json::value& server : items_of(status ? status->if_contains("servers") : nullptr))
    names.emplace_back(find_string(server, "name").value_or(""));
  return names;
}

}  // namespace ralph::lsp
