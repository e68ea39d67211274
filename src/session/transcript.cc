#include "session/transcript.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>

#include <fmt/format.h>

#include "os/clock.h"
#include "os/files.h"
#include "os/poll.h"
#include "session/transcript_line.h"

namespace ralph {
namespace {

constexpr std::uint64_t kSearched = 4 * 1024 * 1024;  // for the last usage record, from the end
constexpr std::uint64_t kFirstLook = 64 * 1024;       // nearly always contains it

struct OpenFile {
  Fd fd{};
  std::uint64_t size = 0;
};

// A pipe or device instead of a transcript must not block a hook.
std::optional<OpenFile> open_plain(const std::string& path) {
  if (path.empty()) return std::nullopt;
  OpenFile file{Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK))};
  struct stat info{};
  if (!file.fd || ::fstat(file.fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  file.size = static_cast<std::uint64_t>(info.st_size);
  return file;
}

// Reads up to `count` bytes, as many as there are.
size_t read_at(const Fd& fd, char* to, size_t count, std::uint64_t offset) {
  size_t have = 0;
  while (have < count) {
    const ssize_t n = ::pread(fd.get(), to + have, count - have, static_cast<off_t>(offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    have += static_cast<size_t>(n);
  }
  return have;
}

// Collects the news from the lines, in file order.
class Gatherer {
 public:
  Gatherer(TranscriptNews& news, std::string_view not_before) : news_(news), not_before_(not_before) {}

  bool add(std::string_view text, bool ended, std::uint64_t offset) {
    const bool blank = text.find_first_not_of(" \t\r") == std::string_view::npos;
    if (ended && !blank) ++lines_;
    const TranscriptLine* const line = lines_reader_.read(text, ended);
    if (!line) return ended;
    ++understood_;
    if (!line->time.empty() && line->time < not_before_) return true;  // same UTC format, so strings compare
    for (const std::string_view words : line->texts) news_.assistant_texts.emplace_back(words);
    for (size_t i = 0; i < line->tool_ids.size(); ++i) {
      std::string id(line->tool_ids[i]);
      if (id.empty()) id = fmt::format("@{}.{}", offset, i);
      if (known_.insert(id).second) news_.tool_ids.push_back(std::move(id));
    }
    for (const std::string_view id : line->refused) {
      if (known_.contains(std::string(id))) {
        std::erase(news_.tool_ids, id);
      } else {
        news_.refused_ids.emplace_back(id);
      }
    }
    if (line->queued) news_.queued.push_back({std::string(line->session), std::string(*line->queued)});
    if (line->unqueued) {
      std::erase_if(news_.queued, [&](const TranscriptNews::Queued& one) {
        return one.session == line->session && (line->unqueued->empty() || one.line == *line->unqueued);
      });
    }
    if (line->is_own) news_.has_own = true;
    if (line->is_step) news_.ends_in_text = line->ends_in_text;
    return true;
  }

  bool all_foreign() const { return lines_ > 0 && understood_ == 0; }

 private:
  TranscriptNews& news_;
  std::string_view not_before_;
  TranscriptLines lines_reader_;
  std::unordered_set<std::string> known_;
  size_t lines_ = 0;
  size_t understood_ = 0;
};

TranscriptNews await_news(const std::string& path, std::uint64_t offset, Milliseconds patience, std::uint64_t limit,
                          std::string_view not_before, bool TranscriptNews::* awaited) {
  const SystemClock clock;
  const MonotonicTime deadline = clock.monotonic() + patience;
  for (;;) {
    const std::uint64_t size = transcript_size(path);
    TranscriptNews news = read_transcript_since(path, offset, limit, not_before);
    while (!(news.*awaited) && transcript_size(path) == size) {
      if (clock.monotonic() >= deadline) return news;
      sleep_for(Milliseconds(3));
    }
    if (news.*awaited || clock.monotonic() >= deadline) return news;
  }
}

}  // namespace

TranscriptNews read_transcript_since(const std::string& path, std::uint64_t offset, std::uint64_t limit,
                                     std::string_view not_before) {
  TranscriptNews news;
  news.end_offset = offset;
  const auto file = open_plain(path);
  if (!file || file->size < offset) {
    news.readable = false;
    if (file) news.end_offset = file->size;
    return news;
  }
  std::uint64_t begin = offset;
  if (file->size - begin > limit) {
    begin = file->size - limit;
    news.partial = true;
  }
  if (begin == file->size) return news;

  // Include the previous byte, which shows whether a line begins here.
  const std::uint64_t from = begin > 0 ? begin - 1 : 0;
  const auto count = static_cast<size_t>(file->size - from);
  const auto bytes = std::make_unique_for_overwrite<char[]>(count);
  std::string_view rest(bytes.get(), read_at(file->fd, bytes.get(), count, from));
  news.end_offset = begin;
  if (begin > 0) {
    const size_t line_end = rest.find('\n');
    if (line_end == std::string_view::npos) return news;
    rest.remove_prefix(line_end + 1);
  }
  Gatherer gatherer(news, not_before);
  const auto position = [&] { return from + static_cast<std::uint64_t>(rest.data() - bytes.get()); };
  news.end_offset = position();
  while (!rest.empty()) {
    const size_t line_end = rest.find('\n');
    const bool ended = line_end != std::string_view::npos;
    const size_t length = ended ? line_end + 1 : rest.size();
    if (!gatherer.add(rest.substr(0, ended ? line_end : length), ended, position())) break;
    rest.remove_prefix(length);
    news.end_offset = position();
  }
  news.readable = !gatherer.all_foreign();
  return news;
}

TranscriptNews await_assistant_text(const std::string& path, std::uint64_t offset, Milliseconds patience,
                                    std::uint64_t limit) {
  return await_news(path, offset, patience, limit, {}, &TranscriptNews::ends_in_text);
}

TranscriptNews await_own(const std::string& path, std::uint64_t offset, Milliseconds patience,
                         std::string_view not_before, std::uint64_t limit) {
  return await_news(path, offset, patience, limit, not_before, &TranscriptNews::has_own);
}

std::uint64_t transcript_size(const std::string& path) {
  struct stat info{};
  if (path.empty() || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

UsageSearch last_usage(const std::string& path, std::uint64_t since) {
  UsageSearch search;
  const auto file = open_plain(path);
  if (!file) return search;
  if (since > file->size) since = 0;
  if (since > 0) --since;  // the newline before it shows that a line begins there
  const std::uint64_t reach = std::min(file->size - since, kSearched);
  const std::uint64_t lowest = file->size - reach;
  // Filled from its end. Memory that is never written is never allocated.
  const auto bytes = std::make_unique_for_overwrite<char[]>(reach);
  TranscriptLines lines;
  std::uint64_t have = 0;   // bytes read, at the end
  size_t line_end = reach;  // everything after it was searched
  bool ended = false;       // a newline was found
  bool understood = false;
  while (have < reach) {
    const std::uint64_t more = std::min(reach - have, have == 0 ? kFirstLook : have * 7);
    if (read_at(file->fd, bytes.get() + (reach - have - more), more, file->size - have - more) != more) return search;
    have += more;
    for (;;) {
      const char* const begin = bytes.get() + (reach - have);
      const void* const found = ::memrchr(begin, '\n', static_cast<size_t>(bytes.get() + line_end - begin));
      if (!found && (have < reach || lowest > 0)) break;  // the line begins further back
      const char* const line = found ? static_cast<const char*>(found) + 1 : begin;
      const char* const end = bytes.get() + line_end;
      if (const TranscriptLine* const read = lines.read({line, static_cast<size_t>(end - line)}, ended)) {
        understood = true;
        if (read->use) {
          search.use = read->use;
          return search;
        }
      }
      if (!found) break;
      line_end = static_cast<size_t>(static_cast<const char*>(found) - bytes.get());
      ended = true;
    }
  }
  search.out_of_reach = understood && lowest > since;
  return search;
}

}  // namespace ralph
