// The head of a client's request to the proxy.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/request_body.h"

namespace ralph {

struct ProxyRequest {
  bool connect = false;  // CONNECT host:port: a tunnel
  std::string host;
  int port = 0;
  std::string head;  // of a plain request: as forwarded to the host
  RequestBody body;  // which of the following bytes belong to it
};

inline constexpr size_t kMostHeadBytes = 32 * 1024;

// The length of the head including its empty line; 0 if it is incomplete.
size_t head_size(std::string_view bytes);

// Fails if it is not a proxy request, or if the host might parse it differently. In a plain request the path replaces
// the absolute URL, the Host field names the host, proxy fields are removed, and the connection is limited to one
// request.
Result<ProxyRequest> parse_proxy_request(std::string_view head);

}  // namespace ralph
