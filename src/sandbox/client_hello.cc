#include "sandbox/client_hello.h"

#include <optional>

namespace ralph {
namespace {

constexpr size_t kRecordHeader = 5, kMessageHeader = 4, kMostBytes = 64 * 1024;
constexpr unsigned char kHandshake = 22, kHello = 1;
constexpr unsigned kServerName = 0;

// Reads numbers and vectors. After an error everything is empty.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : left_(bytes) {}
  unsigned number(size_t bytes) {
    unsigned value = 0;
    for (const char c : take(bytes)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view vector(size_t length_bytes) { return take(number(length_bytes)); }
  std::string_view take(size_t size) {
    if (size > left_.size()) {
      good_ = false;
      left_ = {};
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  bool good() const { return good_; }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

// The handshake's bytes, extracted from their records. nullopt if these are not handshake records.
std::optional<std::string> handshake_of(std::string_view bytes) {
  std::string message;
  while (!bytes.empty()) {
    if (static_cast<unsigned char>(bytes[0]) != kHandshake) return std::nullopt;
    if (bytes.size() < kRecordHeader) break;
    Cursor header(bytes.substr(3));
    const size_t size = header.number(2);
    message += bytes.substr(kRecordHeader, size);
    if (bytes.size() < kRecordHeader + size) break;
    bytes.remove_prefix(kRecordHeader + size);
    if (message.size() >= kMessageHeader && message.size() >= kMessageHeader + Cursor(message.substr(1)).number(3))
      break;
  }
  return message;
}

// The only name in the extension; nullopt if there are several, because a server could pick any of them.
std::optional<std::string> server_name_in(std::string_view extension) {
  Cursor list(Cursor(extension).vector(2));
  const unsigned type = list.number(1);
  const std::string_view name = list.vector(2);
  if (!list.good() || !list.empty() || type != 0) return std::nullopt;
  return std::string(name);
}

}  // namespace

ClientHello read_client_hello(std::string_view bytes) {
  using State = ClientHello::State;
  if (bytes.empty()) return {State::kIncomplete, {}};
  const auto message = handshake_of(bytes);
  if (!message) return {static_cast<unsigned char>(bytes[0]) == kHandshake ? State::kBad : State::kNotTls, {}};
  if (message->size() < kMessageHeader) return {State::kIncomplete, {}};
  if (static_cast<unsigned char>(message->front()) != kHello) return {State::kBad, {}};
  const size_t size = Cursor(std::string_view(*message).substr(1)).number(3);
  if (size > kMostBytes) return {State::kBad, {}};
  if (message->size() < kMessageHeader + size) return {State::kIncomplete, {}};
  Cursor hello(std::string_view(*message).substr(kMessageHeader, size));
  hello.take(2 + 32);  // version, random
  hello.vector(1);     // session
  hello.vector(2);     // ciphers
  hello.vector(1);     // compression
  if (!hello.good()) return {State::kBad, {}};
  if (hello.empty()) return {State::kComplete, {}};
  Cursor extensions(hello.vector(2));
  std::optional<std::string> host;
  while (!extensions.empty()) {
    const unsigned type = extensions.number(2);
    const std::string_view body = extensions.vector(2);
    if (!extensions.good() || (type == kServerName && host)) return {State::kBad, {}};
    if (type != kServerName) continue;
    host = server_name_in(body);
    if (!host) return {State::kBad, {}};
  }
  return {State::kComplete, host.value_or("")};
}

}  // namespace ralph
