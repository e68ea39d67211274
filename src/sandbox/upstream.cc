#include "sandbox/upstream.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "sandbox/allowlist.h"

namespace ralph {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t at) { return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U; };
    const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) text.push_back(kDigits[three >> shift & 63]);
  }
  for (size_t i = bytes.size() % 3; i != 0 && i < 3; ++i) text[text.size() - 3 + i] = '=';
  return text;
}

// %40 is @: a password may contain characters that an address can't.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* begin = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(begin, begin + 2, value, 16).ptr == begin + 2) {
      plain.push_back(static_cast<char>(value));
      i += 2;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

// "http://user:password@host:port/", or "host:port". The error omits the value, which may contain a password.
Result<UpstreamProxy> proxy_from(std::string_view name, std::string_view value) {
  UpstreamProxy proxy;
  std::string_view rest = trim(value);
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    if (const std::string word = to_lower(rest.substr(0, scheme)); word != "http")
      return fail(
          ErrorKind::kInput,
          "{} names a {}:// proxy, but the sandbox's own proxy can only forward to http:// proxies; set {} to one, "
          "or sandbox.network to \"open\"",
          name, word, name);
    rest.remove_prefix(scheme + 3);
  }
  rest = rest.substr(0, rest.find('/'));
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    proxy.authorization = "Basic " + base64(unescaped(rest.substr(0, at)));
    rest.remove_prefix(at + 1);
  }
  proxy.port = 80;
  const size_t colon = rest.rfind(':'), bracket = rest.rfind(']');
  bool good = true;
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const std::string_view digits = rest.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), proxy.port);
    good = error == std::errc() && end == digits.data() + digits.size() && proxy.port >= 1 && proxy.port <= 65535;
    rest = rest.substr(0, colon);
  }
  proxy.host = plain_host(rest);
  if (good && !proxy.host.empty() && proxy.host.find_first_of(" \t\r\n") == std::string::npos) return proxy;
  return fail(ErrorKind::kInput, "{} is not the address of a proxy; expected http://HOST:PORT", name);
}

// The first of these variables that is set and not empty.
Result<std::optional<UpstreamProxy>> first_of(const Environment& environment,
                                              std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::string value = environment.get(name).value_or("");
    if (trim(value).empty()) continue;
    TRY_VALUE(UpstreamProxy proxy, proxy_from(name, value));
    return std::optional(std::move(proxy));
  }
  return std::optional<UpstreamProxy>();
}

std::string in_address(const std::string& host) {
  return contains(host, ':') ? fmt::format("[{}]", host) : host;
}

std::string authorization_field(const UpstreamProxy& proxy) {
  return proxy.authorization.empty() ? "" : fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization);
}

}  // namespace

std::string tunnel_head(const UpstreamProxy& proxy, const std::string& host, int port) {
  const std::string address = fmt::format("{}:{}", in_address(host), port);
  return fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", address, address, authorization_field(proxy));
}

std::string plain_head(const UpstreamProxy& proxy, const ProxyRequest& request) {
  std::string head = request.head;
  const std::string port = request.port == 80 ? "" : fmt::format(":{}", request.port);
  head.insert(head.find("\r\n") + 2, authorization_field(proxy));
  head.insert(head.find(' ') + 1, fmt::format("http://{}{}", in_address(request.host), port));
  return head;
}

Result<Upstream> Upstream::from(const Environment& environment) {
  Upstream upstream;
  TRY_VALUE(upstream.tunnel_, first_of(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}));
  TRY_VALUE(upstream.plain_, first_of(environment, {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}));
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    for (const std::string& part : split(environment.get(name).value_or(""), ',')) {
      std::string_view host = trim(part);
      if (host.starts_with("*.")) host.remove_prefix(1);
      while (host.starts_with('.')) host.remove_prefix(1);
      if (!host.empty()) upstream.direct_.push_back(plain_host(host));
    }
  }
  return upstream;
}

const UpstreamProxy* Upstream::proxy_for(std::string_view host, bool tunnel) const {
  const std::optional<UpstreamProxy>& proxy = tunnel ? tunnel_ : plain_;
  const bool direct = std::ranges::any_of(direct_, [&](const std::string& name) {
    return name == "*" || host == name || (host.ends_with(name) && host[host.size() - name.size() - 1] == '.');
  });
  return proxy && !direct ? &*proxy : nullptr;
}

}  // namespace ralph
