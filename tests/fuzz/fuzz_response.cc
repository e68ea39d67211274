// However output is cut, the same answer is found in it. A prompt that is only repeated, plainly, below a label or
// quoted, is never an answer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "engine/response.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Abbreviations for what a fuzzer rarely finds by itself: tags, and more of something than the finder remembers.
std::string expanded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\x01':
        result += "<response>";
        break;
      case '\x02':
        result += "</response>";
        break;
      case '\x03':
        result += std::string(3000, '-');
        break;
      case '\x04':
        result += std::string(100, 'x');
        break;
      case '\x05':
        result += std::string(40'000, '.');
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::optional<std::string> answer_in(std::string_view prompt, std::string_view output, unsigned seed) {
  ralph::ResponseFinder finder(prompt);
  unsigned state = seed;
  for (size_t at = 0; at < output.size();) {
    state = state * 1103515245 + 12345;
    size_t piece = output.size();  // seed 0: all at once
    if (seed > 0) piece = seed < 64 ? seed : (state >> 16) % (seed < 128 ? 40 : 4000);
    if (output.size() > 8192) piece *= output.size() / 100;
    finder.feed(output.substr(at, piece));
    at += std::min(piece, output.size() - at);
  }
  finder.finish();
  return finder.response();
}

}  // namespace

// The first byte selects how the output is cut; the prompt ends at the first NUL byte, and the output follows.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  if (size == 0 || size > 200) return 0;
  const unsigned seed = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t end = std::min(text.find('\0'), text.size());
  const std::string prompt = expanded(text.substr(0, end));
  const std::string output = expanded(text.substr(std::min(end + 1, text.size())));
  if (prompt.size() + output.size() > 100'000) return 0;  // slow, and tests nothing new

  require(answer_in(prompt, output, seed) == answer_in(prompt, output, 0));

  const std::string quoted = "> " + ralph::replace_all(prompt, "\n", "\n> ");
  for (const std::string& echo : {prompt, "You said:\n" + prompt + "\nI begin now.\n", "You said:\n" + quoted + "\n"}) {
    require(answer_in(prompt, echo, seed) == std::nullopt);
    require(answer_in(prompt, echo, 0) == std::nullopt);
  }
  return 0;
}
