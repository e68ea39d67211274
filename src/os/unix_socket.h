// Local sockets by their path, which may be of any length.
#pragma once

#include <string>

#include "os/files.h"

namespace ralph {

enum class SocketKind { kStream, kPackets };

// A listener that takes the place of whatever is at the path. It is for its owner only.
Result<Fd> listen_at(const std::string& path, SocketKind kind);

// A connection to it; kNotFound if nobody listens.
Result<Fd> connect_to(const std::string& path, SocketKind kind);

bool is_listening(int fd);  // a socket that connections can be accepted from

Status set_nonblocking(int fd);

}  // namespace ralph
