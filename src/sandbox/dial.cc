#include "sandbox/dial.h"

#include <cerrno>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace ralph {

std::optional<Fd> begin_to_connect(const std::string& address, int port) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  auto* four = reinterpret_cast<sockaddr_in*>(&storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *four;
  } else if (::inet_pton(AF_INET6, address.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *six;
  } else {
    return std::nullopt;
  }
  Fd socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return std::nullopt;
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&storage), size) != 0 && errno != EINPROGRESS)
    return std::nullopt;
  return socket;
}

}  // namespace ralph
