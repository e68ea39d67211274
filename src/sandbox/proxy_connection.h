// One client of the proxy, from its request to its end. Checks whether the host is listed, whether its name resolves to
// a public address, and whether its TLS handshake names the same host. Each call of go_on() does what can be done
// without blocking.
#pragma once

#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "os/clock.h"
#include "sandbox/allowlist.h"
#include "sandbox/proxy_request.h"
#include "sandbox/refusals.h"
#include "sandbox/relay.h"
#include "sandbox/upstream.h"

namespace ralph {

// State shared by all connections of a proxy.
struct ProxyMemory {
  struct Names {
    std::vector<std::string> addresses;
    MonotonicTime until;
  };
  const Allowlist& allowed;
  const Upstream& upstream;
  RefusalLog log;
  SystemClock clock{};
  std::map<std::string, Names> names{};
  size_t lookups = 0;  // processes that are looking up a name
  bool lookup_ended = false;
};

class ProxyConnection {
 public:
  ProxyConnection(Fd client, ProxyMemory& memory);
  ProxyConnection(const ProxyConnection&) = delete;
  ProxyConnection& operator=(const ProxyConnection&) = delete;
  ~ProxyConnection() { end_lookup(); }

  void add_to(std::vector<pollfd>& fds) const;  // two entries

  // When to call go_on() even if nothing happens.
  std::optional<MonotonicTime> due() const { return relay_ ? std::nullopt : std::optional(until_); }

  // False: the connection is over.
  bool go_on(bool client_ready, bool other_ready);

 private:
  enum class Step { kRequest, kQueue, kResolve, kConnect, kUpstream, kHello, kAnswer };

  bool read_more(size_t most);  // false: the client has disconnected
  // Each of these is a step or leads to one. False: the connection is over.
  bool read_request();
  bool look_up();
  bool read_names();
  void end_lookup();
  bool connect_to_known(const std::vector<std::string>& addresses);
  bool connect_to_any(std::vector<std::string> addresses);
  bool connect_to_next();
  bool finish_connecting();
  bool ask_upstream();
  bool read_upstream();
  bool open_tunnel();
  bool read_hello();
  bool judge_hello();
  void begin_to_relay(std::string to_host);
  bool refuse(std::string_view why);
  bool answer(int code, std::string_view reason, std::string_view text);
  bool write_answer();

  ProxyMemory& memory_;
  Fd client_, host_, resolver_;
  MonotonicTime until_;
  Step step_ = Step::kRequest;
  ProxyRequest request_;
  const UpstreamProxy* upstream_ = nullptr;  // if set, connected to instead of the host
  std::string read_, names_, answer_, reply_;
  std::vector<std::string> addresses_;
  std::optional<Relay> relay_;
};

}  // namespace ralph
