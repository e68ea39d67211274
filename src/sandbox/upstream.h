// The proxies through which the user's network reaches the outside: HTTPS_PROXY and the like. The sandbox's proxy
// forwards to them, and then they resolve the names.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/environment.h"
#include "sandbox/proxy_request.h"

namespace ralph {

inline constexpr std::array<std::string_view, 8> kUpstreamVariables = {
    "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"};

struct UpstreamProxy {
  std::string host;
  int port = 0;
  std::string authorization;  // the value of Proxy-Authorization; empty: none
};

// What is sent to such a proxy: the request to open a tunnel, or the head of a plain request, with the absolute URL in
// its first line: "GET http://host/path HTTP/1.1".
std::string tunnel_head(const UpstreamProxy& proxy, const std::string& host, int port);
std::string plain_head(const UpstreamProxy& proxy, const ProxyRequest& request);

class Upstream {
 public:
  // Fails if a variable names a proxy that does not use plain HTTP.
  static Result<Upstream> from(const Environment& environment);

  // The proxy for a host, for tunnels (CONNECT) or plain HTTP; nullptr if the host is reached directly.
  const UpstreamProxy* proxy_for(std::string_view host, bool tunnel) const;

 private:
  std::optional<UpstreamProxy> tunnel_, plain_;
  std::vector<std::string> direct_;  // from NO_PROXY: names, including their subdomains; "*": all
};

}  // namespace ralph
