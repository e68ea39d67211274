// How language servers put messages into a stream: a header with the length, an empty line, JSON. Pure: bytes in,
// messages out. What comes from a server is believed as little as what comes from an agent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace ralph::lsp {

inline constexpr size_t kMostHeader = 4096;       // of one message
inline constexpr size_t kMostMessage = 64 << 20;  // its JSON

// The message with its header, as it goes over the wire.
std::string framed(const json::value& message);

class FrameReader {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }

  // The next whole message; nullopt: there is none yet. Fails on what is no message; then nothing more can be read,
  // because nobody knows where the next one would begin.
  Result<std::optional<json::value>> next();

  // What has come since the last whole message.
  std::string_view rest() const { return std::string_view(bytes_).substr(from_); }

 private:
  std::string bytes_;
  size_t from_ = 0;  // what is before was read
};

}  // namespace ralph::lsp
