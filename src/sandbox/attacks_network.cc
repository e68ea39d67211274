#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "os/files.h"
#include "sandbox/attacks.h"

namespace ralph {
namespace {

// Address families that some systems' headers lack.
constexpr int kPacketFamily = 17, kCryptoFamily = 38, kVsockFamily = 40;

Attempt connects(int family, const void* address, socklen_t size) {
  const Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {false, errno_text(errno)};
  const int connected = ::connect(socket.get(), static_cast<const sockaddr*>(address), size);
  if (connected != 0 && errno == EINPROGRESS) return {false, "nobody answered at once"};
  return attempt_of(connected, "connected");
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Attempt connects_to(const std::string& name, bool abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 >= sizeof address.sun_path) return {false, "its name is too long"};
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  return connects(AF_UNIX, &address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1));
}

Attempt opens_socket(int family, int type) {
  const Fd socket(::socket(family, type | SOCK_CLOEXEC, 0));
  return attempt_of(socket.get(), "opened one");
}

constexpr std::array kNetworkAttacks = {
    Attack{"tcp", "connect to a server on the host",
           [](const AttackPlace& p) {
             const sockaddr_in address = loopback(p.tcp_port);
             const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
             if (!socket) return Attempt{false, errno_text(errno)};
             const auto* to = reinterpret_cast<const sockaddr*>(&address);
             return attempt_of(::connect(socket.get(), to, sizeof address), "connected");
           }},
    Attack{"udp", "send a packet to the host",
           [](const AttackPlace& p) {
             const sockaddr_in address = loopback(p.udp_port);
             const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
             const auto* to = reinterpret_cast<const sockaddr*>(&address);
             if (!socket || ::sendto(socket.get(), "x", 1, 0, to, sizeof address) != 1)
               return Attempt{false, errno_text(errno)};
             return Attempt{false, "sent, but not to the host"};  // the host checks whether it arrived
           },
           nullptr, false, AttackIn::kProject, true},
    Attack{"unix-socket", "connect to a socket in a folder of the host",
           [](const AttackPlace& p) { return connects_to(p.socket, false); }},
    Attack{"abstract-socket", "connect to an abstract socket of the host",
           [](const AttackPlace& p) { return connects_to(p.abstract, true); }},
    Attack{"vsock", "open a socket to the hypervisor, which no namespace contains",
           [](const AttackPlace&) { return opens_socket(kVsockFamily, SOCK_STREAM); }},
    Attack{"raw-socket", "open a raw socket", [](const AttackPlace&) { return opens_socket(kPacketFamily, SOCK_RAW); }},
    Attack{"crypto-socket", "open a socket to the kernel's ciphers",
           [](const AttackPlace&) { return opens_socket(kCryptoFamily, SOCK_SEQPACKET); }},
};

}  // namespace

std::span<const Attack> network_attacks() {
  return kNetworkAttacks;
}

}  // namespace ralph
