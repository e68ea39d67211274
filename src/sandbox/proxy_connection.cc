#include "sandbox/proxy_connection.h"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "sandbox/client_hello.h"
#include "sandbox/dial.h"

namespace ralph {
namespace {

constexpr size_t kMostHelloBytes = 64 * 1024;
constexpr size_t kMostLookups = 32;  // each is a process that no sandbox limit counts
constexpr Milliseconds kRequestTime{30'000}, kConnectTime{30'000}, kNamesKept{60'000};
constexpr int kTlsPort = 443;
constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

}  // namespace

ProxyConnection::ProxyConnection(Fd client, ProxyMemory& memory)
    : memory_(memory), client_(std::move(client)), until_(memory.clock.monotonic() + kRequestTime) {}

void ProxyConnection::add_to(std::vector<pollfd>& fds) const {
  if (relay_) return relay_->add_to(fds);
  const bool reads = step_ == Step::kRequest || step_ == Step::kHello;
  const bool writes = step_ == Step::kAnswer;
  fds.push_back({reads || writes ? client_.get() : -1, static_cast<short>(reads ? POLLIN : POLLOUT), 0});
  const bool to_host = step_ == Step::kConnect || step_ == Step::kUpstream;
  const int other = step_ == Step::kResolve ? resolver_.get() : to_host ? host_.get() : -1;
  fds.push_back({other, static_cast<short>(step_ == Step::kConnect ? POLLOUT : POLLIN), 0});
}

bool ProxyConnection::go_on(bool client_ready, bool other_ready) {
  if (relay_) return !(client_ready || other_ready) || relay_->move();
  if (memory_.clock.monotonic() >= until_) return false;
  switch (step_) {
    case Step::kRequest:
      return !client_ready || read_request();
    case Step::kQueue:
      return look_up();
    case Step::kResolve:
      return !other_ready || read_names();
    case Step::kConnect:
      return !other_ready || finish_connecting();
    case Step::kUpstream:
      return !other_ready || read_upstream();
    case Step::kHello:
      return !client_ready || read_hello();
    case Step::kAnswer:
      return !client_ready || write_answer();
  }
  return false;
}

bool ProxyConnection::read_more(size_t most) {
  char bytes[16 * 1024];
  const ssize_t n = ::recv(client_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0 || read_.size() + static_cast<size_t>(n) > most) return false;
  read_.append(bytes, static_cast<size_t>(n));
  return true;
}

bool ProxyConnection::read_request() {
  if (!read_more(kMostHeadBytes)) return false;
  const size_t size = head_size(read_);
  if (size == 0) return true;
  auto request = parse_proxy_request(std::string_view(read_).substr(0, size));
  if (!request) return answer(400, "Bad Request", request.error().message);
  request_ = *std::move(request);
  read_.erase(0, size);
  if (!memory_.allowed.allows(request_.host, request_.port)) return refuse(kNotListed);
  if (const std::string* address = memory_.allowed.address_of(request_.host)) return connect_to_any({*address});
  upstream_ = memory_.upstream.proxy_for(request_.host, request_.connect);
  const std::string& next = upstream_ ? upstream_->host : request_.host;
  if (is_ip_address(next)) return connect_to_any({next});  // the address itself is listed
  step_ = Step::kQueue;
  until_ = memory_.clock.monotonic() + kConnectTime;
  return look_up();
}

bool ProxyConnection::look_up() {
  const std::string& next = upstream_ ? upstream_->host : request_.host;
  const auto known = memory_.names.find(next);
  if (known != memory_.names.end() && known->second.until > memory_.clock.monotonic())
    return connect_to_known(known->second.addresses);
  if (memory_.lookups >= kMostLookups) return true;  // the end of another lookup wakes us
  auto resolver = begin_to_resolve(next);
  if (!resolver) return answer(502, "Bad Gateway", "cannot look up names");
  resolver_ = *std::move(resolver);
  ++memory_.lookups;
  step_ = Step::kResolve;
  return true;
}

void ProxyConnection::end_lookup() {
  if (!resolver_) return;
  --memory_.lookups;
  memory_.lookup_ended = true;
  resolver_.close();
}

bool ProxyConnection::read_names() {
  char bytes[4096];
  const ssize_t n = ::read(resolver_.get(), bytes, sizeof bytes);
  if (n > 0) {
    names_.append(bytes, static_cast<size_t>(n));
    return names_.size() < 64 * 1024;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  end_lookup();
  const std::vector<std::string> addresses = addresses_in(names_);
  const std::string& next = upstream_ ? upstream_->host : request_.host;
  if (addresses.empty()) return answer(502, "Bad Gateway", "there is no host " + next);
  if (memory_.names.size() > 1000) memory_.names.clear();
  memory_.names[next] = {addresses, memory_.clock.monotonic() + kNamesKept};
  return connect_to_known(addresses);
}

// One private address is enough to refuse: a name that resolves to one is not trustworthy. The user's own proxy,
// however, may well be in the user's own network.
bool ProxyConnection::connect_to_known(const std::vector<std::string>& addresses) {
  if (!upstream_ && std::ranges::any_of(addresses, [](const std::string& one) { return is_private_address(one); }))
    return refuse(kPrivateAddress);
  return connect_to_any(addresses);
}

bool ProxyConnection::connect_to_any(std::vector<std::string> addresses) {
  addresses_ = std::move(addresses);
  until_ = memory_.clock.monotonic() + kConnectTime;
  return connect_to_next();
}

bool ProxyConnection::connect_to_next() {
  while (!addresses_.empty()) {
    const std::string address = addresses_.front();
    addresses_.erase(addresses_.begin());
    auto socket = begin_to_connect(address, upstream_ ? upstream_->port : request_.port);
    if (!socket) continue;
    host_ = *std::move(socket);
    step_ = Step::kConnect;
    return true;
  }
  if (upstream_)
    return answer(502, "Bad Gateway",
                  fmt::format("the proxy {}:{} of your network can't be reached", upstream_->host, upstream_->port));
  return answer(502, "Bad Gateway", fmt::format("{}:{} can't be reached", request_.host, request_.port));
}

bool ProxyConnection::finish_connecting() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(host_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return connect_to_next();
  if (upstream_ && request_.connect) return ask_upstream();
  if (!request_.connect) {
    const size_t own = request_.body.take(read_);
    if (request_.body.broken()) return false;
    begin_to_relay((upstream_ ? plain_head(*upstream_, request_) : request_.head) + read_.substr(0, own));
    relay_->limit_right(request_.body);
    return true;
  }
  return open_tunnel();
}

bool ProxyConnection::ask_upstream() {
  const std::string head = tunnel_head(*upstream_, request_.host, request_.port);
  if (::send(host_.get(), head.data(), head.size(), MSG_DONTWAIT | MSG_NOSIGNAL) != static_cast<ssize_t>(head.size()))
    return connect_to_next();
  step_ = Step::kUpstream;
  until_ = memory_.clock.monotonic() + kConnectTime;
  return true;
}

bool ProxyConnection::read_upstream() {
  // Consume only the head: what follows belongs to the tunnel.
  char bytes[4096];
  const ssize_t seen = ::recv(host_.get(), bytes, sizeof bytes, MSG_DONTWAIT | MSG_PEEK);
  if (seen < 0) return errno == EAGAIN || errno == EINTR;
  const size_t before = reply_.size();
  reply_.append(bytes, seen > 0 ? static_cast<size_t>(seen) : 0);
  const size_t size = head_size(reply_);
  const size_t taken = size != 0 ? size - before : reply_.size() - before;
  if (seen == 0 || ::recv(host_.get(), bytes, taken, MSG_DONTWAIT) < 0 || reply_.size() > kMostHeadBytes)
    return answer(502, "Bad Gateway", "the proxy of your network closed the connection");
  if (size == 0) return true;
  const std::vector<std::string> words = split(first_line(reply_), ' ');
  if (words.size() < 2 || !words[0].starts_with("HTTP/1.") || !words[1].starts_with('2'))
    return answer(502, "Bad Gateway",
                  fmt::format("the proxy {}:{} of your network says: {}", upstream_->host, upstream_->port,
                              trim(first_line(reply_))));
  return open_tunnel();
}

bool ProxyConnection::open_tunnel() {
  // The name in the TLS hello must be the one that was requested; otherwise any host behind the same address could be
  // reached.
  if (::send(client_.get(), kEstablished.data(), kEstablished.size(), MSG_DONTWAIT | MSG_NOSIGNAL) !=
      static_cast<ssize_t>(kEstablished.size()))
    return false;
  step_ = Step::kHello;
  until_ = memory_.clock.monotonic() + kRequestTime;
  return read_.empty() || judge_hello();
}

bool ProxyConnection::read_hello() {
  return read_more(kMostHelloBytes) && judge_hello();
}

bool ProxyConnection::judge_hello() {
  using State = ClientHello::State;
  const ClientHello hello = read_client_hello(read_);
  if (hello.state == State::kIncomplete) return true;
  const bool tls = hello.state == State::kComplete;
  const bool plain_where_allowed = hello.state == State::kNotTls && request_.port != kTlsPort;
  const bool same = plain_host(hello.host) == request_.host || (hello.host.empty() && is_ip_address(request_.host));
  if (plain_where_allowed || (tls && same)) {
    begin_to_relay(read_);
    return true;
  }
  // The tunnel is already open, so the only possible answer is to close it.
  memory_.log.add(request_.host, request_.port,
                  tls ? fmt::format("{}{}", kAnotherHost, hello.host.substr(0, 100)) : std::string(kNoTls),
                  memory_.clock);
  return false;
}

void ProxyConnection::begin_to_relay(std::string to_host) {
  relay_.emplace(std::move(client_), std::move(host_));
  relay_->send_right(std::move(to_host));
}

bool ProxyConnection::refuse(std::string_view why) {
  memory_.log.add(request_.host, request_.port, why, memory_.clock);
  return answer(403, "Forbidden",
                fmt::format("the sandbox does not let you reach {}: {}. A person can add it to {}",
                            host_and_port(request_.host, request_.port), why,
                            why == kPrivateAddress ? "sandbox.resolve" : "sandbox.hosts"));
}

bool ProxyConnection::answer(int code, std::string_view reason, std::string_view text) {
  const std::string body = fmt::format("ralph: {}\n", text);
  answer_ = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n{}",
      code, reason, body.size(), body);
  step_ = Step::kAnswer;
  until_ = memory_.clock.monotonic() + kRequestTime;
  return write_answer();
}

bool ProxyConnection::write_answer() {
  const ssize_t n = ::send(client_.get(), answer_.data(), answer_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  answer_.erase(0, static_cast<size_t>(n));
  return !answer_.empty();
}

}  // namespace ralph
