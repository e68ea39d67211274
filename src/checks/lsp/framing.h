// The framing of language server messages: a header with the length, an empty line, JSON. Pure: bytes in, messages out.
// Output of a server is trusted as little as that of an agent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace ralph::lsp {

inline constexpr size_t kMostHeader = 4096;       // per message
inline constexpr size_t kMostMessage = 64 << 20;  // of its JSON

// The message with its header, as it goes over the wire.
std::string framed(const json::value& message);

class FrameReader {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }

  // The next complete message; nullopt if there is none yet. Fails on an invalid message; then nothing more can be
  // read, because the start of the next one is unknown.
  Result<std::optional<json::value>> next();

  // The bytes received since the last complete message.
  std::string_view rest() const { return std::string_view(bytes_).substr(from_); }

 private:
  std::string bytes_;
  size_t from_ = 0;  // everything before it was consumed
};

}  // namespace ralph::lsp
