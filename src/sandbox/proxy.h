// The way out of a sandbox: an HTTP proxy that connects to listed hosts only. One process, one thread; nothing in it
// waits for a client, a host or a name server.
#pragma once

#include <string>
#include <vector>

#include "os/files.h"
#include "sandbox/allowlist.h"

namespace ralph {

struct ProxySetup {
  Allowlist allowed;
  std::string log;  // a file for refusals, one JSON object a line; empty: none
};

// Serves until the process is ended.
[[noreturn]] void serve_proxy(const Fd& listener, const ProxySetup& setup);

// What a log says: how often each host was refused.
struct Refusal {
  std::string host;
  int port = 0;
  std::string why;
  int count = 0;
};
std::vector<Refusal> read_refusals(const std::string& log);

}  // namespace ralph
