// Inside a sandbox: a listener on 127.0.0.1 whose connections go to the proxy's socket, so that programs which know
// HTTP_PROXY only can reach it.
#pragma once

#include <string>

#include "base/result.h"
#include "os/files.h"

namespace ralph {

Result<Fd> listen_on_loopback(int port);

// Serves until it is ended.
[[noreturn]] void serve_bridge(const Fd& listener, const std::string& socket);

// Starts it as a child that holds no stream of the caller, and listens already when this returns.
Status start_bridge(int port, const std::string& socket);

}  // namespace ralph
