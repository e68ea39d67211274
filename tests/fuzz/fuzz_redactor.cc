// However a text is cut, redaction yields the same bytes, as many as went in, without any secret.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "journal/redactor.h"

namespace {

const ralph::Redactor& redactor() {
  static const std::vector<std::string> kEnvironment = {
      "A_TOKEN=abcdabcdabcx",
      "B_PASSWORD=dabcxyz\"\\\n!",
      "URL=postgres://me:hunter2@db",
      "C_KEY=AAAAAAAAAAAAAAAA",
  };
  static const ralph::Redactor kRedactor(kEnvironment);
  return kRedactor;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// The first byte selects how the rest is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const unsigned seed = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = redactor().redact(text);
  require(whole.size() == text.size());
  for (size_t i = 0; i < text.size(); ++i) require(whole[i] == text[i] || whole[i] == '*');
  require(whole.find("abcdabcdabcx") == std::string::npos);
  require(whole.find("AAAAAAAAAAAAAAAA") == std::string::npos);
  require(whole.find(":hunter2@") == std::string::npos);

  ralph::Redactor::Stream stream(redactor());
  std::string pieces;
  unsigned state = seed;
  for (size_t at = 0; at < text.size();) {
    state = state * 1103515245 + 12345;
    const size_t piece = seed < 64 ? seed + 1 : (state >> 16) % 40;  // including empty pieces
    pieces += stream.feed(text.substr(at, piece));
    at += std::min(piece, text.size() - at);
  }
  pieces += stream.finish();
  require(pieces == whole);
  return 0;
}
