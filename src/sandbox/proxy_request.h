// What a client asks a proxy for: the head of its request.
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
  std::string head;  // of a plain request: as the host itself is to get it
  RequestBody body;  // what of the bytes behind it belongs to it
};

inline constexpr size_t kMostHeadBytes = 32 * 1024;

// The length of the head with its empty line; 0: it is not complete.
size_t head_size(std::string_view bytes);

// Fails if it is no request for a proxy, or one that its host might read in another way. In a plain one the path
// replaces the address, the Host field names the host, the fields for the proxy are left out, and the connection is for
// one request only.
Result<ProxyRequest> parse_proxy_request(std::string_view head);

}  // namespace ralph
