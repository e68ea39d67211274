// The way out of a sandbox: an HTTP proxy that connects only to listed hosts. It is one process with one thread, and
// never blocks on a client, a host or a name server.
#pragma once

#include <string>

#include "os/files.h"
#include "sandbox/allowlist.h"
#include "sandbox/upstream.h"

namespace ralph {

struct ProxySetup {
  Allowlist allowed;
  Upstream upstream;
  std::string log;  // the log of refusals, one JSON object per line; empty: none
};

// Serves until the process is killed.
[[noreturn]] void serve_proxy(const Fd& listener, const ProxySetup& setup);

}  // namespace ralph
