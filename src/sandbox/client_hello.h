// The host that a TLS client requests in its first message (SNI).
#pragma once

#include <string>
#include <string_view>

namespace ralph {

struct ClientHello {
  enum class State { kIncomplete, kNotTls, kBad, kComplete };
  State state = State::kIncomplete;
  std::string host;  // empty: none requested
};

// `bytes`: the start of a connection. The message may be split across several records.
ClientHello read_client_hello(std::string_view bytes);

}  // namespace ralph
