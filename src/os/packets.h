// Packets with descriptors over a pair of local sockets, between processes of one program: bytes need no framing, and a
// packet arrives whole or not at all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/files.h"

namespace ralph {

inline constexpr size_t kMaxPacketBytes = 64 * 1024;
inline constexpr size_t kMaxPacketDescriptors = 8;

struct PacketPair {
  Fd one, other;
};
Result<PacketPair> make_packet_pair();  // close-on-exec

// Never blocks and never raises SIGPIPE: fails if the other end is closed or does not read. The descriptors are
// duplicated.
Status send_packet(int socket, std::string_view bytes, std::span<const int> descriptors = {});

struct Packet {
  std::string bytes;
  std::vector<Fd> descriptors;  // close-on-exec
};
// The next packet; nullopt if there is none, or if the other end was closed. Never blocks.
enum class Taking { kRemove, kPeek };
std::optional<Packet> receive_packet(int socket, Taking taking = Taking::kRemove);

}  // namespace ralph
