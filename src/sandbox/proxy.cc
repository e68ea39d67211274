#include "sandbox/proxy.h"

#include <algorithm>
#include <list>
#include <signal.h>
#include <sys/socket.h>

#include "os/poll.h"
#include "os/unix_socket.h"
#include "sandbox/proxy_connection.h"

namespace ralph {
void serve_proxy(const Fd& listener, const ProxySetup& setup) {
  ::signal(SIGCHLD, SIG_IGN);  // nobody reaps the children that look up names
  ::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(set_nonblocking(listener.get()));
  const size_t most = most_relays();
  ProxyMemory memory{setup.allowed, setup.upstream, RefusalLog(setup.log)};
  std::list<ProxyConnection> connections;
  std::vector<pollfd> fds;
  for (;;) {
    fds.clear();
    fds.push_back({listener.get(), static_cast<short>(connections.size() < most ? POLLIN : 0), 0});
    std::optional<MonotonicTime> due;
    for (const ProxyConnection& connection : connections) {
      connection.add_to(fds);
      if (const auto one = connection.due(); one && (!due || *one < *due)) due = one;
    }
    int wait = -1;
    if (due) wait = static_cast<int>(std::max<long long>(0, (*due - memory.clock.monotonic()).count() + 1));
    if (memory.lookup_ended) wait = 0;  // wake the connections that waited for it
    memory.lookup_ended = false;
    poll_or_look(fds, wait);
    size_t at = 1;
    for (auto connection = connections.begin(); connection != connections.end(); at += 2) {
      const bool goes_on = connection->go_on(fds[at].revents != 0, fds[at + 1].revents != 0);
      connection = goes_on ? std::next(connection) : connections.erase(connection);
    }
    while (connections.size() < most) {
      Fd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!client) break;
      connections.emplace_back(std::move(client), memory);
    }
  }
}

}  // namespace ralph
