#include "session/loop_log.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr off_t kTail = 16 * 1024;  // holds the last line, nearly always

// The last bytes of a file, `most` of them if there are so many.
std::string tail_of(const std::string& path, off_t most) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const off_t from = std::max<off_t>(info.st_size - most, 0);
  std::string text(static_cast<size_t>(info.st_size - from), '\0');
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), from);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

std::optional<json::value> last_record(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.rfind('\n');
    if (end == std::string_view::npos) return std::nullopt;
    text = text.substr(0, end);
    const size_t begin = text.rfind('\n') + 1;  // 0 if there is none
    if (auto value = parse_json(text.substr(begin), "a line"); value && value->is_object()) return *std::move(value);
    text = text.substr(0, begin);
  }
  return std::nullopt;
}

bool ends_in_a_cut_off_line(const std::string& path) {
  const std::string last = tail_of(path, 1);
  return !last.empty() && last != "\n";
}

}  // namespace

void LoopLog::apply_last(LoopState& state) const {
  struct stat info{};
  if (::lstat(path_.c_str(), &info) != 0) return;
  auto record = last_record(tail_of(path_, kTail));
  if (!record && info.st_size > kTail) record = last_record(tail_of(path_, info.st_size));
  if (record) apply_record(state, *record);
}

Status LoopLog::append(const LoopState& state, const LoopDecision& decision) const {
  TRY_VALUE(const Fd file, open_for_append(path_));
  const std::string line = to_compact_json(record_of(state, decision)) + "\n";
  return write_all(file.get(), ends_in_a_cut_off_line(path_) ? "\n" + line : line, path_);
}

std::vector<LoopDecision> LoopLog::decisions() const {
  std::vector<LoopDecision> decisions;
  struct stat info{};
  if (::lstat(path_.c_str(), &info) != 0) return decisions;
  for (const std::string& line : split(tail_of(path_, info.st_size), '\n')) {
    const auto value = parse_json(line, path_);
    if (!value || !find_string(*value, "rule").has_value()) continue;
    decisions.push_back(loop_decision_from(*value));
  }
  return decisions;
}

}  // namespace ralph
