// A transcript yields the same news however often it is read while it grows, whatever it contains. Nothing is reported
// twice, nothing that began before the offset is reported, and the usage found from the end is the one found from the
// beginning.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "session/transcript.h"
#include "session/transcript_line.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// An in-memory file that has a path.
class Memory {
 public:
  Memory() : fd_(::memfd_create("transcript", 0)), path_("/proc/self/fd/" + std::to_string(fd_)) {}
  ~Memory() { ::close(fd_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  const std::string& path() const { return path_; }
  void append(std::string_view text) {
    require(::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

 private:
  int fd_;
  std::string path_;
};

std::optional<ralph::ContextUse> last_use(std::string_view text) {
  ralph::TranscriptLines lines;
  std::optional<ralph::ContextUse> last;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const bool ended = end != std::string_view::npos;
    const ralph::TranscriptLine* const line = lines.read(text.substr(0, end), ended);
    if (line && line->use) last = line->use;
    text.remove_prefix(ended ? end + 1 : text.size());
  }
  return last;
}

}  // namespace

// The first two bytes say where the file was cut when it was first read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  if (size < 2 || size > 100'000) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t cut = text.empty() ? 0 : (data[0] * 256U + data[1]) % (text.size() + 1);

  Memory growing;
  growing.append(text.substr(0, cut));
  const auto first = ralph::read_transcript_since(growing.path(), 0);
  require(first.end_offset <= cut);
  growing.append(text.substr(cut));
  const auto rest = ralph::read_transcript_since(growing.path(), first.end_offset);
  require(rest.end_offset >= first.end_offset && rest.end_offset <= text.size());

  Memory whole_file;
  whole_file.append(text);
  const auto whole = ralph::read_transcript_since(whole_file.path(), 0);
  std::vector<std::string> texts = first.assistant_texts;
  texts.insert(texts.end(), rest.assistant_texts.begin(), rest.assistant_texts.end());
  // A last line that was complete but had no newline yet may have been only a beginning: "{}" and then "x".
  const bool at_line_end = cut == 0 || cut == text.size() || text[cut - 1] == '\n' || first.end_offset < cut;
  if (at_line_end) require(texts == whole.assistant_texts && rest.end_offset == whole.end_offset);

  // The same with too little room: the result is the end of the full list.
  const auto part = ralph::read_transcript_since(growing.path(), 0, 64);
  require(part.assistant_texts.size() <= whole.assistant_texts.size());
  require(std::equal(part.assistant_texts.rbegin(), part.assistant_texts.rend(), whole.assistant_texts.rbegin()));

  const auto found = ralph::last_usage(whole_file.path());
  const auto expected = last_use(text);
  require(found.use.has_value() == expected.has_value());
  if (expected) require(found.use->tokens == expected->tokens && found.use->window == expected->window);
  return 0;
}
