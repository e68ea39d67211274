#include "sandbox/dial.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/text.h"

namespace ralph {

std::vector<std::string> resolve_now(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<std::string> addresses;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return addresses;
  for (const addrinfo* one = found; one; one = one->ai_next) {
    char text[INET6_ADDRSTRLEN] = {};
    const void* address = nullptr;
    if (one->ai_family == AF_INET) address = &reinterpret_cast<const sockaddr_in*>(one->ai_addr)->sin_addr;
    if (one->ai_family == AF_INET6) address = &reinterpret_cast<const sockaddr_in6*>(one->ai_addr)->sin6_addr;
    if (address && ::inet_ntop(one->ai_family, address, text, sizeof text)) addresses.emplace_back(text);
  }
  ::freeaddrinfo(found);
  return addresses;
}

Result<Fd> begin_to_resolve(const std::string& host) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return fail(ErrorKind::kIo, "{}", errno_text(errno));
  Fd read(ends[0]), write(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorKind::kIo, "{}", errno_text(errno));
  if (pid == 0) {
    ::alarm(20);
    const std::string answer = join(resolve_now(host), "\n");
    static_cast<void>(!::write(write.get(), answer.data(), std::min<size_t>(answer.size(), 4096)));
    ::_exit(0);
  }
  return read;
}

std::vector<std::string> addresses_in(const std::string& answer) {
  std::vector<std::string> addresses;
  for (const std::string& line : split(answer, '\n')) {
    if (!line.empty()) addresses.push_back(line);
  }
  return addresses;
}

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
