#include "sandbox/proxy_request.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "sandbox/allowlist.h"

namespace ralph {
namespace {

tl::unexpected<Error> bad(std::string_view what) {
  return fail(ErrorKind::kInput, "{}", what);
}

// "host:port", "[::1]:port"; without a port, `port` is left unchanged.
bool split_authority(std::string_view text, std::string& host, int& port) {
  const size_t bracket = text.rfind(']');
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size() || port < 1 || port > 65535) return false;
    text = text.substr(0, colon);
  }
  host = plain_host(text);
  return is_host_name(host) || is_ip_address(host);
}

// The characters allowed in method and field names.
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() &&
         std::ranges::all_of(text, [&](char c) { return is_alphanumeric(c) || kMarks.find(c) != kMarks.npos; });
}

// A bare line feed, a NUL or the like ends a line for some parsers but not for others.
bool has_control_characters(std::string_view line) {
  return std::ranges::any_of(line,
                             [](char c) { return (static_cast<unsigned char>(c) < 32 && c != '\t') || c == 127; });
}

bool is_for_the_proxy(std::string_view name) {
  return name == "host" || name == "connection" || name == "keep-alive" || name == "upgrade" || name == "te" ||
         name == "trailer" || name.starts_with("proxy-");
}

// The end of the body must be specified exactly once, in one way.
class BodyFields {
 public:
  Status add(std::string_view name, std::string_view value) {
    const bool is_length = name == "content-length";
    if (!is_length && name != "transfer-encoding") return {};
    if (said_) return bad("the request gives its length more than once");
    said_ = true;
    if (is_length) {
      std::uint64_t length = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
      if (value.empty() || error != std::errc() || end != value.data() + value.size())
        return bad("Content-Length is not a number");
      body_ = RequestBody::of_length(length);
    } else {
      if (to_lower(value) != "chunked") return bad("Transfer-Encoding is not \"chunked\"");
      body_ = RequestBody::chunked();
    }
    return {};
  }
  const RequestBody& body() const { return body_; }

 private:
  bool said_ = false;
  RequestBody body_ = RequestBody::none();
};

}  // namespace

size_t head_size(std::string_view bytes) {
  const size_t at = bytes.find("\r\n\r\n");
  return at == std::string_view::npos ? 0 : at + 4;
}

Result<ProxyRequest> parse_proxy_request(std::string_view head) {
  const size_t line_end = head.find("\r\n");
  if (line_end == std::string_view::npos) return bad("this is not an HTTP request");
  const std::vector<std::string> words = split(head.substr(0, line_end), ' ');
  if (words.size() != 3 || (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0") || !is_token(words[0]) ||
      has_control_characters(words[1]))
    return bad("this is not an HTTP request");
  ProxyRequest request;
  if (words[0] == "CONNECT") {
    request.connect = true;
    if (!split_authority(words[1], request.host, request.port) || request.port == 0)
      return bad("CONNECT needs HOST:PORT");
    return request;
  }
  constexpr std::string_view kScheme = "http://";
  std::string_view address = words[1];
  if (!to_lower(address.substr(0, kScheme.size())).starts_with(kScheme))
    return bad("a proxy needs the whole address: http://HOST/PATH");
  address.remove_prefix(kScheme.size());
  const size_t slash = address.find_first_of("/?#");
  const std::string authority(address.substr(0, slash));
  request.port = 80;
  if (!split_authority(authority, request.host, request.port)) return bad("the address has no valid host");
  std::string path(slash == std::string_view::npos ? "/" : address.substr(slash));
  if (!path.starts_with('/')) path.insert(0, "/");
  request.head = fmt::format("{} {} {}\r\nHost: {}\r\nConnection: close\r\n", words[0], path, words[2], authority);
  BodyFields body;
  for (std::string_view rest = head.substr(line_end + 2); !rest.empty();) {
    const size_t end = rest.find("\r\n");
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
    if (field.empty()) break;
    const std::string name = to_lower(field.substr(0, field.find(':')));
    if (name.size() == field.size() || !is_token(name)) return bad("a field has no valid name");
    if (has_control_characters(field)) return bad("a field has control characters");
    TRY(body.add(name, trim(field.substr(name.size() + 1))));
    if (!is_for_the_proxy(name)) request.head.append(field).append("\r\n");
  }
  request.head += "\r\n";
  request.body = body.body();
  return request;
}

}  // namespace ralph
