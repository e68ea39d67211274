#include "checks/lsp/framing.h"

#include <charconv>

#include "base/text.h"

namespace ralph::lsp {
namespace {

constexpr std::string_view kEndOfHeader = "\r\n\r\n";

// The first complete line without a colon, as printed by programs that are not language servers; empty if there is
// none. Waiting for the end of such a header would be pointless.
std::string_view non_header_line(std::string_view begun) {
  for (size_t end = begun.find('\n'); end != std::string_view::npos; end = begun.find('\n')) {
    const std::string_view line = trim(begun.substr(0, end));
    if (!line.empty() && !contains(line, ':')) return line;
    begun.remove_prefix(end + 1);
  }
  return {};
}

// The length given in a header.
Result<size_t> length_in(std::string_view header) {
  std::optional<size_t> length;
  for (const std::string& line : split(header, '\n')) {
    const std::string_view text = trim(line);
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return fail(ErrorKind::kInput, "a header without a colon: \"{}\"", text);
    if (to_lower(trim(text.substr(0, colon))) != "content-length") continue;
    const std::string_view digits = trim(text.substr(colon + 1));
    size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty())
      return fail(ErrorKind::kInput, "a Content-Length that is not a number: \"{}\"", digits);
    if (length && *length != number) return fail(ErrorKind::kInput, "two different lengths in one header");
    length = number;
  }
  if (!length) return fail(ErrorKind::kInput, "a header without Content-Length");
  if (*length > kMostMessage)
    return fail(ErrorKind::kInput, "a message of {} bytes, which is more than {}", *length, kMostMessage);
  return *length;
}

}  // namespace

std::string framed(const json::value& message) {
  const std::string text = to_compact_json(message);
  return fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
}

Result<std::optional<json::value>> FrameReader::next() {
  const std::string_view text = rest();
  const size_t end = text.substr(0, kMostHeader + kEndOfHeader.size()).find(kEndOfHeader);
  if (end == std::string_view::npos) {
    if (const std::string_view line = non_header_line(text.substr(0, kMostHeader)); !line.empty())
      return fail(ErrorKind::kInput, "a header without a colon: \"{}\"", line);
    if (text.size() > kMostHeader)
      return fail(ErrorKind::kInput, "a header of more than {} bytes, or not a language server", kMostHeader);
    return std::optional<json::value>();
  }
  TRY_VALUE(const size_t length, length_in(text.substr(0, end)));
  const size_t begin = end + kEndOfHeader.size();
  if (text.size() - begin < length) return std::optional<json::value>();
  auto message = parse_json(text.substr(begin, length), "a message");
  if (!message) return tl::unexpected(message.error());
  if (!message->is_object()) return fail(ErrorKind::kInput, "a message that is not a JSON object");
  from_ += begin + length;
  // Moving the rest is cheap if it is done rarely.
  if (from_ == bytes_.size() || from_ > (1 << 20)) {
    bytes_.erase(0, from_);
    from_ = 0;
  }
  return std::optional(std::move(*message));
}

}  // namespace ralph::lsp
