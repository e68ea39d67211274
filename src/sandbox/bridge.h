// Runs inside a sandbox: listens on 127.0.0.1 and forwards connections to the proxy's socket, for programs that only
// support HTTP_PROXY.
#pragma once

#include <string>

#include "base/result.h"
#include "os/files.h"

namespace ralph {

Result<Fd> listen_on_loopback(int port);

// Serves until the process is killed.
[[noreturn]] void serve_bridge(const Fd& listener, const std::string& socket);

// Starts the bridge as a child that holds none of the caller's streams. It is already listening when this returns.
Status start_bridge(int port, const std::string& socket);

}  // namespace ralph
