// ralph sandbox proxy, ralph sandbox bridge: the two ends of the way out of a sandbox.
#include <array>
#include <charconv>
#include <unistd.h>

#include "cli/registry.h"
#include "os/unix_socket.h"
#include "sandbox/bridge.h"
#include "sandbox/places.h"
#include "sandbox/proxy.h"
#include "sandbox/upstream.h"

namespace ralph::cli {
namespace {

constexpr std::array kProxyOptions = {
    Option{"socket", 0, "PATH", "Listen on this Unix socket (default: standard input is the listening socket)."},
    Option{"allow", 0, "HOST", "A host that may be reached: NAME, *.NAME or an address, with :PORT if not 80 or 443.",
           false, true},
    Option{"resolve", 0, "NAME=ADDRESS", "Resolve NAME to ADDRESS, which may be a private one.", false, true},
    Option{"log", 0, "FILE", "Append a line of JSON to FILE for each refusal."},
};

Result<int> proxy(const Arguments& arguments) {
  std::map<std::string, std::string> resolve;
  for (const std::string& pair : arguments.values("resolve")) {
    const size_t equal = pair.find('=');
    if (equal == std::string::npos) return fail(ErrorKind::kUsage, "--resolve: \"{}\" is not NAME=ADDRESS", pair);
    resolve[pair.substr(0, equal)] = pair.substr(equal + 1);
  }
  ProxySetup setup;
  TRY_VALUE(setup.allowed, Allowlist::from(arguments.values("allow"), resolve));
  setup.log = arguments.value("log").value_or("");
  TRY_VALUE(setup.upstream, Upstream::from(Environment::of_this_process()));
  Fd listener(STDIN_FILENO);
  if (const auto path = arguments.value("socket")) {
    TRY_VALUE(listener, listen_at(std::string(*path), SocketKind::kStream));
  } else if (!is_listening(STDIN_FILENO)) {
    return fail(ErrorKind::kUsage, "standard input is not a listening socket; give --socket PATH");
  }
  serve_proxy(listener, setup);
}

constexpr std::array kBridgeOptions = {
    Option{"port", 0, "N", "Listen on this port of 127.0.0.1 (default 3128)."},
};
constexpr std::array kBridgePositionals = {Positional{"SOCKET", "The proxy's Unix socket.", true}};

Result<int> bridge(const Arguments& arguments) {
  int port = kProxyPort;
  if (const auto text = arguments.value("port")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), port);
    if (error != std::errc() || end != text->data() + text->size() || port < 1 || port > 65535)
      return fail(ErrorKind::kUsage, "--port: {} is not a port; expected a number from 1 to 65535", *text);
  }
  TRY_VALUE(const Fd listener, listen_on_loopback(port));
  serve_bridge(listener, arguments.positionals()[0]);
}

}  // namespace

const Command kSandboxProxy = {
    "sandbox proxy",
    "Run an HTTP proxy that allows connections to listed hosts only.",
    R"(A sandboxed run starts it automatically. It accepts CONNECT and plain HTTP, and refuses names that resolve to
private addresses, and TLS to a host other than that of CONNECT. It forwards to the proxies named by HTTPS_PROXY,
HTTP_PROXY and ALL_PROXY, which then resolve the names, except for the hosts in NO_PROXY. It serves until it is
ended.)",
    R"(ralph sandbox proxy --socket /run/user/1000/proxy.sock --allow api.example.com --allow '*.example.org:8443')",
    kProxyOptions,
    {},
    proxy,
};

const Command kSandboxBridge = {
    "sandbox bridge",
    "Inside a sandbox: forwards connections from 127.0.0.1 to the proxy's socket.",
    "Programs inside find it through HTTP_PROXY. It serves until it is ended.",
    "ralph sandbox bridge /run/ralph/proxy.sock --port 3128",
    kBridgeOptions,
    kBridgePositionals,
    bridge,
};

}  // namespace ralph::cli
