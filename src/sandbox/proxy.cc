#include "sandbox/proxy.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <list>
#include <map>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/text.h"
#include "json/value.h"
#include "os/clock.h"
#include "sandbox/client_hello.h"
#include "sandbox/proxy_request.h"
#include "sandbox/relay.h"
#include "sandbox/resolver.h"

namespace ralph {
namespace {

constexpr size_t kMostConnections = 512, kMostLogBytes = 1 << 20, kMostHelloBytes = 64 * 1024;
constexpr Milliseconds kRequestTime{30'000}, kConnectTime{30'000}, kNamesKept{60'000};
constexpr int kTlsPort = 443;
constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

// Refusals, appended in one call each. A client can't fill the disk with them.
class RefusalLog {
 public:
  explicit RefusalLog(const std::string& path) {
    if (path.empty()) return;
    if (auto file = open_for_append(path)) file_ = *std::move(file);
  }
  void add(const std::string& host, int port, std::string_view why, const Clock& clock) {
    const std::string line = to_compact_json(json::object{{"time", to_iso8601(clock.wall())},
                                                          {"host", to_json_string(host.substr(0, 256))},
                                                          {"port", port},
                                                          {"why", why}}) +
                             "\n";
    if (!file_ || written_ + line.size() > kMostLogBytes) return;
    written_ += line.size();
    static_cast<void>(write_all(file_.get(), line, "the proxy's log"));
  }

 private:
  Fd file_;
  size_t written_ = 0;
};

struct Names {
  std::vector<std::string> addresses;
  MonotonicTime until;
};

struct Shared {
  const Allowlist& allowed;
  RefusalLog log;
  SystemClock clock;
  std::map<std::string, Names> names;
};

// Begins to connect; nullopt if that can't even begin.
std::optional<Fd> begin_to_connect(const std::string& address, int port) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  auto* four = reinterpret_cast<sockaddr_in*>(&storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *four;
  } else if (::inet_pton(AF_INET6, address.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *six;
  } else {
    return std::nullopt;
  }
  Fd socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return std::nullopt;
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&storage), size) != 0 && errno != EINPROGRESS)
    return std::nullopt;
  return socket;
}

// One client, from its request to its end. Each call of go_on() does what can be done without waiting.
class Connection {
 public:
  Connection(Fd client, Shared& shared)
      : shared_(shared), client_(std::move(client)), until_(shared.clock.monotonic() + kRequestTime) {}

  void add_to(std::vector<pollfd>& fds) const {
    if (relay_) return relay_->add_to(fds);
    const bool reads = step_ == Step::kRequest || step_ == Step::kHello;
    const bool writes = step_ == Step::kAnswer;
    fds.push_back({reads || writes ? client_.get() : -1, static_cast<short>(reads ? POLLIN : POLLOUT), 0});
    const int other = step_ == Step::kResolve ? resolver_.get() : step_ == Step::kConnect ? host_.get() : -1;
    fds.push_back({other, static_cast<short>(step_ == Step::kResolve ? POLLIN : POLLOUT), 0});
  }

  // When it is to be looked at even if nothing happens.
  std::optional<MonotonicTime> due() const { return relay_ ? std::nullopt : std::optional(until_); }

  // False: it is over.
  bool go_on(bool client_ready, bool other_ready) {
    if (relay_) return !(client_ready || other_ready) || relay_->move();
    if (shared_.clock.monotonic() >= until_) return false;
    switch (step_) {
      case Step::kRequest:
        return !client_ready || read_request();
      case Step::kResolve:
        return !other_ready || read_names();
      case Step::kConnect:
        return !other_ready || finish_connecting();
      case Step::kHello:
        return !client_ready || read_hello();
      case Step::kAnswer:
        return !client_ready || write_answer();
    }
    return false;
  }

 private:
  enum class Step { kRequest, kResolve, kConnect, kHello, kAnswer };

  // False: the client is gone.
  bool read_more(size_t most) {
    char bytes[16 * 1024];
    const ssize_t n = ::recv(client_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0 || read_.size() + static_cast<size_t>(n) > most) return false;
    read_.append(bytes, static_cast<size_t>(n));
    return true;
  }

  bool read_request() {
    if (!read_more(kMostHeadBytes)) return false;
    const size_t size = head_size(read_);
    if (size == 0) return true;
    auto request = parse_proxy_request(std::string_view(read_).substr(0, size));
    if (!request) return answer(400, "Bad Request", request.error().message);
    request_ = *std::move(request);
    read_.erase(0, size);
    if (!shared_.allowed.allows(request_.host, request_.port)) return refuse("not in the list of hosts");
    if (const std::string* address = shared_.allowed.address_of(request_.host)) return connect_to_any({*address});
    if (is_ip_address(request_.host)) return connect_to_any({request_.host});  // listed as an address
    const auto known = shared_.names.find(request_.host);
    if (known != shared_.names.end() && known->second.until > shared_.clock.monotonic())
      return connect_to_public(known->second.addresses);
    auto resolver = begin_to_resolve(request_.host);
    if (!resolver) return answer(502, "Bad Gateway", "no name can be looked up");
    resolver_ = *std::move(resolver);
    step_ = Step::kResolve;
    until_ = shared_.clock.monotonic() + kConnectTime;
    return true;
  }

  bool read_names() {
    char bytes[4096];
    const ssize_t n = ::read(resolver_.get(), bytes, sizeof bytes);
    if (n > 0) {
      names_.append(bytes, static_cast<size_t>(n));
      return names_.size() < 64 * 1024;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    resolver_.close();
    const std::vector<std::string> addresses = addresses_in(names_);
    if (addresses.empty()) return answer(502, "Bad Gateway", "there is no host " + request_.host);
    if (shared_.names.size() > 1000) shared_.names.clear();
    shared_.names[request_.host] = {addresses, shared_.clock.monotonic() + kNamesKept};
    return connect_to_public(addresses);
  }

  // One private address among them is enough: a name that leads there is not to be trusted.
  bool connect_to_public(const std::vector<std::string>& addresses) {
    if (std::ranges::any_of(addresses, [](const std::string& one) { return is_private_address(one); }))
      return refuse("its address is a private one");
    return connect_to_any(addresses);
  }

  bool connect_to_any(std::vector<std::string> addresses) {
    addresses_ = std::move(addresses);
    until_ = shared_.clock.monotonic() + kConnectTime;
    return connect_to_next();
  }

  bool connect_to_next() {
    while (!addresses_.empty()) {
      const std::string address = addresses_.front();
      addresses_.erase(addresses_.begin());
      auto socket = begin_to_connect(address, request_.port);
      if (!socket) continue;
      host_ = *std::move(socket);
      step_ = Step::kConnect;
      return true;
    }
    return answer(502, "Bad Gateway", fmt::format("{}:{} can't be reached", request_.host, request_.port));
  }

  bool finish_connecting() {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(host_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return connect_to_next();
    if (!request_.connect) {
      begin_to_relay({}, request_.head + read_);
      return true;
    }
    // The name in the first message must be the one that was asked for: else any host behind the same address is
    // reached.
    if (::send(client_.get(), kEstablished.data(), kEstablished.size(), MSG_DONTWAIT | MSG_NOSIGNAL) !=
        static_cast<ssize_t>(kEstablished.size()))
      return false;
    step_ = Step::kHello;
    until_ = shared_.clock.monotonic() + kRequestTime;
    return read_.empty() || judge_hello();
  }

  bool read_hello() { return read_more(kMostHelloBytes) && judge_hello(); }

  bool judge_hello() {
    using State = ClientHello::State;
    const ClientHello hello = read_client_hello(read_);
    if (hello.state == State::kIncomplete) return true;
    const bool tls = hello.state == State::kComplete;
    const bool plain_where_allowed = hello.state == State::kNotTls && request_.port != kTlsPort;
    const bool same = plain_host(hello.host) == request_.host || (hello.host.empty() && is_ip_address(request_.host));
    if (plain_where_allowed || (tls && same)) {
      begin_to_relay({}, read_);
      return true;
    }
    // There is a tunnel already: nothing can be said in it but by closing it.
    shared_.log.add(request_.host, request_.port,
                    tls ? fmt::format("TLS asks for another host: {}", hello.host.substr(0, 100)) : "no TLS",
                    shared_.clock);
    return false;
  }

  void begin_to_relay(std::string to_client, std::string to_host) {
    relay_.emplace(std::move(client_), std::move(host_));
    relay_->send_right(std::move(to_host));
    relay_->send_left(std::move(to_client));
    relay_->move();
  }

  bool refuse(std::string_view why) {
    shared_.log.add(request_.host, request_.port, why, shared_.clock);
    return answer(403, "Forbidden",
                  fmt::format("the sandbox does not let you reach {}:{}: {}. A person can add it to sandbox.hosts",
                              request_.host, request_.port, why));
  }

  bool answer(int code, std::string_view reason, std::string_view text) {
    const std::string body = fmt::format("ralph: {}\n", text);
    answer_ = fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: "
        "close\r\n\r\n{}",
        code, reason, body.size(), body);
    step_ = Step::kAnswer;
    until_ = shared_.clock.monotonic() + kRequestTime;
    return write_answer();
  }

  bool write_answer() {
    const ssize_t n = ::send(client_.get(), answer_.data(), answer_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    answer_.erase(0, static_cast<size_t>(n));
    return !answer_.empty();
  }

  Shared& shared_;
  Fd client_, host_, resolver_;
  MonotonicTime until_;
  Step step_ = Step::kRequest;
  ProxyRequest request_;
  std::string read_, names_, answer_;
  std::vector<std::string> addresses_;
  std::optional<Relay> relay_;
};

}  // namespace

void serve_proxy(const Fd& listener, const ProxySetup& setup) {
  ::signal(SIGCHLD, SIG_IGN);  // children that look up names
  ::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(set_nonblocking(listener.get()));
  Shared shared{setup.allowed, RefusalLog(setup.log), {}, {}};
  std::list<Connection> connections;
  std::vector<pollfd> fds;
  for (;;) {
    fds.clear();
    fds.push_back({listener.get(), static_cast<short>(connections.size() < kMostConnections ? POLLIN : 0), 0});
    std::optional<MonotonicTime> due;
    for (const Connection& connection : connections) {
      connection.add_to(fds);
      if (const auto one = connection.due(); one && (!due || *one < *due)) due = one;
    }
    int wait = -1;
    if (due) wait = static_cast<int>(std::max<long long>(0, (*due - shared.clock.monotonic()).count() + 1));
    if (::poll(fds.data(), fds.size(), wait) < 0) continue;
    size_t at = 1;
    for (auto connection = connections.begin(); connection != connections.end(); at += 2) {
      const bool goes_on = connection->go_on(fds[at].revents != 0, fds[at + 1].revents != 0);
      connection = goes_on ? std::next(connection) : connections.erase(connection);
    }
    while (connections.size() < kMostConnections) {
      Fd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!client) break;
      connections.emplace_back(std::move(client), shared);
    }
  }
}

std::vector<Refusal> read_refusals(const std::string& log) {
  std::vector<Refusal> refusals;
  for (const std::string& line : split(read_file(log).value_or(""), '\n')) {
    const auto value = line.empty() ? Result<json::value>(tl::unexpected<Error>(Error{})) : parse_json(line, log);
    if (!value) continue;
    const Refusal one{std::string(find_string(*value, "host").value_or("?")),
                      static_cast<int>(find_integer(*value, "port").value_or(0)),
                      std::string(find_string(*value, "why").value_or("")), 1};
    const auto same = std::ranges::find_if(refusals, [&](const Refusal& known) {
      return known.host == one.host && known.port == one.port && known.why == one.why;
    });
    if (same == refusals.end()) {
      refusals.push_back(one);
    } else {
      ++same->count;
    }
  }
  return refusals;
}

}  // namespace ralph
