// Words that are quoted and split again are the same words. No text makes the splitter crash. What it accepts, it also
// accepts after quoting.
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
  // The whole text as a line.
  if (const auto words = ralph::split_shell_words(text)) require_same_when_quoted(*words);
  return 0;
}
