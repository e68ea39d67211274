// The lines are those that a plain search for line feeds finds, whatever the chunks, and no more is kept than allowed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "json/splitter.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

class Lines : public ralph::LineSink {
 public:
  void on_line(std::string_view line) override {
    require(!line.empty() && line.find('\n') == std::string_view::npos);
    lines.push_back("=" + std::string(line));
  }
  void on_oversized_line(std::string_view head) override { lines.push_back("+" + std::string(head)); }

  std::vector<std::string> lines;
};

constexpr size_t kLongest = 40;
constexpr std::string_view kBlanks("\0 \t\r", 4);

// The same, done the simple way.
std::vector<std::string> expected_lines(std::string_view text) {
  std::vector<std::string> lines;
  bool first = true;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const bool oversized = line.size() > kLongest;
    if (oversized) line = line.substr(0, kLongest);
    if (first && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    first = false;
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (oversized) {
      lines.push_back("+" + std::string(line));
      continue;
    }
    line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    if (!line.empty()) lines.push_back("=" + std::string(line));
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const size_t piece = size % 61 + 1;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ralph::LineSplitter splitter(kLongest);
  Lines lines;
  for (size_t at = 0; at < text.size(); at += piece) splitter.feed(text.substr(at, piece), lines);
  splitter.finish(lines);
  require(lines.lines == expected_lines(text));
  return 0;
}
