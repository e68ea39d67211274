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
    Option{"socket", 0, "PATH", "Listen at this unix socket; without it, standard input is the listener."},
    Option{"allow", 0, "HOST", "A host that may be reached: NAME, *.NAME or an address, with :PORT if not 80 or 443.",
           false, true},
    Option{"resolve", 0, "NAME=ADDRESS", "The address of a name; it may be a private one.", false, true},
    Option{"log", 0, "FILE", "Append a line of JSON for each refusal."},
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
    return fail(ErrorKind::kUsage, "standard input is no socket that listens; give --socket PATH");
  }
  serve_proxy(listener, setup);
}

constexpr std::array kBridgeOptions = {
    Option{"port", 0, "N", "Listen on 127.0.0.1 at this port (default 3128)."},
};
constexpr std::array kBridgePositionals = {Positional{"SOCKET", "The proxy's unix socket.", true}};

Result<int> bridge(const Arguments& arguments) {
  int port = kProxyPort;
  if (const auto text = arguments.value("port")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), port);
    if (error != std::errc() || end != text->data() + text->size() || port < 1 || port > 65535)
      return fail(ErrorKind::kUsage, "--port: {} is no port; expected a number from 1 to 65535", *text);
  }
  TRY_VALUE(const Fd listener, listen_on_loopback(port));
  serve_bridge(listener, arguments.positionals()[0]);
}

}  // namespace

const Command kSandboxProxy = {
    "sandbox proxy",
    "An HTTP proxy that lets through to listed hosts only.",
    R"(A run with a sandbox starts it by itself. It takes CONNECT and plain HTTP; a name that leads to a private address is
refused, and so is TLS that asks for another host than CONNECT did. It goes on to the proxies that HTTPS_PROXY, HTTP_PROXY
and ALL_PROXY name, but for hosts of NO_PROXY: names are not looked up here then. It serves until it is ended.)",
    R"(ralph sandbox proxy --socket /run/user/1000/proxy.sock --allow api.example.com --allow '*.example.org:8443')",
    kProxyOptions,
    {},
    proxy,
};

const Command kSandboxBridge = {
    "sandbox bridge",
    "Inside a sandbox: carries connections from 127.0.0.1 to the proxy's socket.",
    "Programs inside know the proxy by HTTP_PROXY. It serves until it is ended.",
    "ralph sandbox bridge /run/ralph/proxy.sock --port 3128",
    kBridgeOptions,
    kBridgePositionals,
    bridge,
};

}  // namespace ralph::cli
