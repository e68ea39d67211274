#include "sandbox/egress.h"

#include "sandbox/upstream.h"

namespace ralph {

Result<HelperSocket> open_egress_socket() {
  return open_helper_socket("proxy", kEgressLog);
}

Launch proxy_launch(const ProxyOrder& order, const Environment& environment) {
  Launch launch;
  launch.argv = {order.helper, "sandbox", "proxy"};
  for (const std::string& host : order.hosts) launch.argv.push_back("--allow=" + host);
  for (const auto& [name, address] : order.resolve)
    launch.argv.push_back(fmt::format("--resolve={}={}", name, address));
  if (!order.log.empty()) launch.argv.push_back("--log=" + order.log);
  // The proxy talks to the outside, so it gets only the variables it needs.
  for (const char* name : {"PATH", "LANG", "RALPH_RUN_ID", "RALPH_TEST_MARKER"}) {
    if (const auto value = environment.get(name)) launch.environment.set(name, *value);
  }
  // Passed in the environment, not on the command line: a proxy's address may contain a password.
  for (const std::string_view name : kUpstreamVariables) {
    if (const auto value = environment.get(std::string(name))) launch.environment.set(std::string(name), *value);
  }
  launch.folder = "/";
  return launch;
}

}  // namespace ralph
