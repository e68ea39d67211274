// How the proxy is started, by whoever puts a sandbox in force.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "os/launch.h"
#include "sandbox/allowlist.h"
#include "sandbox/proxy.h"

namespace ralph {

// The proxy's socket, which is bound into the sandbox. It listens before the proxy runs, so that nobody comes too
// early.
struct EgressDoor {
  std::string folder;  // for its owner only; to be removed with the socket in it
  std::string socket;
  Fd listener;
};
Result<EgressDoor> open_egress_door();

struct ProxyOrder {
  std::string helper;  // ralph's own program
  std::vector<std::string> hosts;
  std::map<std::string, std::string> resolve;
  std::string log;
};

// `ralph sandbox proxy`, with the listener as its standard input.
Launch proxy_launch(const ProxyOrder& order, const Environment& environment);

}  // namespace ralph
