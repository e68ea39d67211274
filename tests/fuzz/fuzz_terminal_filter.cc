// Whatever an agent prints, only text and colours pass the filter: every ESC starts a colour, there are no other
// control characters, C0 or C1, nothing changes the text direction, and the cuts in the input make no difference.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "ui/terminal_filter.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// The length of the colour sequence at the beginning of `text`, or 0.
size_t color_at(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;:", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

void require_harmless(std::string_view text, bool color) {
  require(ralph::find_invalid_utf8(text) == std::string_view::npos);  // so no C1 byte is on its own
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0x1b) {
      const size_t sequence = color_at(text.substr(at));
      require(color && sequence > 0);
      at += sequence - 1;
      continue;
    }
    require(byte >= 0x20 || byte == '\n' || byte == '\t' || byte == '\r');
    require(byte != 0x7f);
    for (const std::string_view turning : {"\u202A", "\u202E", "\u2066", "\u2069"}) {
      require(!text.substr(at).starts_with(turning));
    }
    if (byte == 0xc2) require(static_cast<unsigned char>(text[at + 1]) >= 0xa0);
  }
}

}  // namespace

// The first byte selects how the rest is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const unsigned seed = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const bool color : {false, true}) {
    ralph::TerminalFilter filter(color);
    std::string whole = filter.feed(text);
    whole += filter.finish();
    require_harmless(whole, color);

    std::string pieces;
    unsigned state = seed;
    for (size_t at = 0; at < text.size();) {
      state = state * 1103515245 + 12345;
      const size_t piece = seed < 64 ? seed + 1 : (state >> 16) % 40;  // including empty pieces
      pieces += filter.feed(text.substr(at, piece));
      at += std::min(piece, text.size() - at);
    }
    pieces += filter.finish();
    require(pieces == whole);
    if (!color) require(ralph::without_controls(whole) == whole);  // nothing is left to remove
  }
  return 0;
}
