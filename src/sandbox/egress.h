// Starts the proxy for a sandbox.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "os/helper_socket.h"
#include "os/launch.h"
#include "sandbox/allowlist.h"
#include "sandbox/refusals.h"

namespace ralph {

// The proxy's socket, which is bound into the sandbox.
Result<HelperSocket> open_egress_socket();
inline constexpr std::string_view kEgressLog = "egress.jsonl";

struct ProxyOrder {
  std::string helper;  // ralph's own program
  std::vector<std::string> hosts;
  std::map<std::string, std::string> resolve;
  std::string log;
};

// `ralph sandbox proxy`, with the listener as its standard input.
Launch proxy_launch(const ProxyOrder& order, const Environment& environment);

}  // namespace ralph
