// The way out of a sandbox: an HTTP proxy that connects to listed hosts only. One process, one thread; nothing in it
// waits for a client, a host or a name server.
#pragma once

#include <string>

#include "os/files.h"
#include "sandbox/allowlist.h"
#include "sandbox/upstream.h"

namespace ralph {

struct ProxySetup {
  Allowlist allowed;
  Upstream upstream;
  std::string log;  // a file for refusals, one JSON object a line; empty: none
};

// Serves until the process is ended.
[[noreturn]] void serve_proxy(const Fd& listener, const ProxySetup& setup);

}  // namespace ralph
