// Local sockets by path, of any length.
#pragma once

#include <string>

#include "os/files.h"

namespace ralph {

enum class SocketKind { kStream, kPackets };

// A listener that replaces whatever is at the path. Only its owner can connect.
Result<Fd> listen_at(const std::string& path, SocketKind kind);

// A connection to it; kNotFound if nobody is listening.
Result<Fd> connect_to(const std::string& path, SocketKind kind);

bool is_listening(int fd);  // a socket that accepts connections

Status set_nonblocking(int fd);

}  // namespace ralph
