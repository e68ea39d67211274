#include "journal/stream_space.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace ralph {
namespace {

// "agent_3.out", "commit_message_3.err". The logs of checks are evidence and stay.
bool is_stream(std::string_view name) {
  return starts_with_any(name, {"agent_", "commit_message_"}) && (name.ends_with(".out") || name.ends_with(".err"));
}

}  // namespace

StreamSpace::StreamSpace(std::string folder, std::int64_t limit, std::optional<std::int64_t> known,
                         std::vector<std::string> own)
    : folder_(std::move(folder)), limit_(limit), own_(std::move(own)), total_(known.value_or(0)) {
  if (limit_ > 0 && !known) list();
}

void StreamSpace::list() {
  listed_ = true;
  total_ = own_size_;
  std::vector<std::pair<timespec, Old>> found;
  for (const std::string& name : names_in(folder_)) {
    struct stat info{};
    const std::string path = join_path(folder_, name);
    if (!is_stream(name) || is_one_of(name, own_) || ::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    found.push_back({info.st_mtim, {path, info.st_size}});
    total_ += info.st_size;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.tv_sec, a.first.tv_nsec) < std::pair(b.first.tv_sec, b.first.tv_nsec);
  });
  for (auto& [time, old] : found) old_.push_back(std::move(old));
}

Status StreamSpace::append(RawFile& file, std::string_view bytes) {
  TRY(file.append(bytes));
  if (limit_ <= 0) return {};
  total_ += static_cast<std::int64_t>(bytes.size());
  own_size_ += static_cast<std::int64_t>(bytes.size());
  if (total_ > limit_ && !listed_) list();
  for (; total_ > limit_ && !old_.empty(); old_.pop_front()) {
    ::unlink(old_.front().path.c_str());
    total_ -= old_.front().size;
    dropped_ += old_.front().size;
  }
  if (total_ <= limit_) return {};
  // Drop half at once, so that this does not happen with every line.
  const auto cut = file.keep_end(static_cast<size_t>(limit_ / 2));
  if (!cut) return tl::unexpected(cut.error());
  total_ -= *cut;
  own_size_ -= *cut;
  dropped_ += *cut;
  return {};
}

}  // namespace ralph
