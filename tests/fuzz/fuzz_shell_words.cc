// Words that are quoted and split again are the same words; no text makes the splitting crash; what it takes, it takes
// again after quoting.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void require_same_when_quoted(const std::vector<std::string>& words) {
  const auto again = ralph::split_shell_words(ralph::quote_shell_words(words));
  require(again.has_value());
  require(*again == words);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Each part between NUL bytes as a word.
  require_same_when_quoted(ralph::split(text, '\0'));
  // The whole as a line.
  if (const auto words = ralph::split_shell_words(text)) require_same_when_quoted(*words);
  return 0;
}
