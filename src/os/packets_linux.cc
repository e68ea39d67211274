#include <cerrno>
#include <cstring>
#include <sys/socket.h>

#include "os/packets.h"

namespace ralph {
namespace {

// Room for the descriptors of one packet, aligned as the kernel requires.
union PacketControl {
  cmsghdr header;
  char bytes[CMSG_SPACE(kMaxPacketDescriptors * sizeof(int))];
};

std::vector<Fd> descriptors_in(msghdr& message) {
  std::vector<Fd> found;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      found.emplace_back(fd);
    }
  }
  return found;
}

}  // namespace

Result<PacketPair> make_packet_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorKind::kIo, "cannot create a pair of sockets: {}", errno_text(errno));
  return PacketPair{Fd(ends[0]), Fd(ends[1])};
}

Status send_packet(int socket, std::string_view bytes, std::span<const int> descriptors) {
  if (bytes.empty() || bytes.size() > kMaxPacketBytes || descriptors.size() > kMaxPacketDescriptors)
    return fail(ErrorKind::kInternal, "a packet of {} bytes can't be sent", bytes.size());
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  PacketControl control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return fail(ErrorKind::kIo, "cannot send a packet: {}", errno_text(errno));
  return {};
}

std::optional<Packet> receive_packet(int socket, Taking taking) {
  Packet packet;
  packet.bytes.resize(kMaxPacketBytes);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  PacketControl control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const int peek = taking == Taking::kPeek ? MSG_PEEK : 0;
  const ssize_t n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | peek);
  if (n <= 0) return std::nullopt;
  packet.descriptors = descriptors_in(message);
  packet.bytes.resize(static_cast<size_t>(n));
  return packet;
}

}  // namespace ralph
