#include "sandbox/egress.h"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

#include "sandbox/relay.h"

namespace ralph {

Result<EgressDoor> open_egress_door() {
  std::string folder = "/tmp/ralph-proxy-XXXXXX";
  if (!::mkdtemp(folder.data())) return fail(ErrorKind::kIo, "cannot create {}: {}", folder, errno_text(errno));
  EgressDoor door;
  door.folder = real_path(folder);
  door.socket = join_path(door.folder, "proxy.sock");
  TRY_VALUE(door.listener, listen_at(door.socket));
  return door;
}

Launch proxy_launch(const ProxyOrder& order, const Environment& environment) {
  Launch launch;
  launch.argv = {order.helper, "sandbox", "proxy"};
  for (const std::string& host : order.hosts) launch.argv.push_back("--allow=" + host);
  for (const auto& [name, address] : order.resolve)
    launch.argv.push_back(fmt::format("--resolve={}={}", name, address));
  if (!order.log.empty()) launch.argv.push_back("--log=" + order.log);
  // It talks to the outside: it gets nothing that it does not need.
  for (const char* name : {"PATH", "LANG", "RALPH_RUN_ID", "RALPH_TEST_MARKER"}) {
    if (const auto value = environment.get(name)) launch.environment.set(name, *value);
  }
  launch.folder = "/";
  return launch;
}

}  // namespace ralph
