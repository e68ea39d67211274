#include "sandbox/bridge.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <list>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <netinet/in.h>

#include "os/descriptors.h"
#include "os/poll.h"
#include "os/unix_socket.h"
#include "sandbox/relay.h"

namespace ralph {
Result<Fd> listen_on_loopback(int port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return fail(ErrorKind::kIo, "cannot listen on 127.0.0.1:{}: {}", port, errno_text(errno));
  return socket;
}

void serve_bridge(const Fd& listener, const std::string& socket) {
  ::signal(SIGPIPE, SIG_IGN);
  const size_t most = most_relays();
  std::list<Relay> relays;
  std::vector<pollfd> fds;
  for (;;) {
    fds.clear();
    const bool full = relays.size() >= most;
    fds.push_back({listener.get(), static_cast<short>(full ? 0 : POLLIN), 0});
    for (const Relay& relay : relays) relay.add_to(fds);
    poll_or_look(fds, -1);
    size_t at = 1;
    for (auto relay = relays.begin(); relay != relays.end(); at += 2) {
      const bool ready = fds[at].revents != 0 || fds[at + 1].revents != 0;
      relay = ready && !relay->move() ? relays.erase(relay) : std::next(relay);
    }
    if (fds[0].revents == 0) continue;
    Fd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) continue;
    auto proxy = connect_to(socket, SocketKind::kStream);  // without a proxy, the client sees its connection close
    if (proxy && set_nonblocking(proxy->get())) relays.emplace_back(std::move(client), *std::move(proxy));
  }
}

Status start_bridge(int port, const std::string& socket) {
  TRY_VALUE(Fd listener, listen_on_loopback(port));
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorKind::kIo, "cannot start the bridge to the proxy: {}", errno_text(errno));
  if (pid > 0) return {};
  ::setsid();
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd < 3; ++fd) ::dup2(null.get(), fd);
  serve_bridge(listener, socket);
}

}  // namespace ralph
