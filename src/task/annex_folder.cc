#include "task/annex_folder.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMostFiles = 20'000;
constexpr size_t kMostParts = 32;

// Whether a relative path stays below its folder.
bool is_plain_path(std::string_view path) {
  const std::vector<std::string> parts = split(path, '/');
  if (path.find('\0') != std::string_view::npos || parts.size() > kMostParts) return false;
  return std::ranges::none_of(parts,
                              [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

}  // namespace

std::map<std::string, AnnexFolder::Stamp> AnnexFolder::look() const {
  std::map<std::string, Stamp> found;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(top_, fs::directory_options::skip_permission_denied, error);
       !error && at != fs::recursive_directory_iterator() && found.size() < kMostFiles; at.increment(error)) {
    const std::string path = at->path().string().substr(top_.size() + 1);
    struct stat info{};
    if (::lstat(at->path().c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      if (!is_shared_(path + "/")) at.disable_recursion_pending();
    } else if (S_ISREG(info.st_mode) && is_shared_(path) && static_cast<size_t>(info.st_size) <= kMostAnnexBytes) {
      found[path] = {info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, static_cast<long long>(info.st_ino),
                     info.st_mode & 0100U};
    }
  }
  return found;
}

std::vector<AnnexFrame> AnnexFolder::changes() {
  std::vector<AnnexFrame> frames;
  std::map<std::string, Stamp> now = look();
  for (const auto& [path, stamp] : sent_)
    if (!now.contains(path)) frames.push_back({AnnexWord::kGone, path});
  for (auto at = now.begin(); at != now.end();) {
    const auto before = sent_.find(at->first);
    if (before != sent_.end() && before->second == at->second) {
      ++at;
      continue;
    }
    auto bytes = read_without_links(join_path(top_, at->first), kMostAnnexBytes);
    if (bytes) frames.push_back({AnnexWord::kPut, at->first, at->second.mode != 0 ? 1 : 0, *std::move(bytes)});
    at = bytes ? std::next(at) : now.erase(at);
  }
  sent_ = std::move(now);
  return frames;
}

void AnnexFolder::remember(const std::string& path) {
  struct stat info{};
  sent_.erase(path);
  if (is_shared_(path) && ::lstat(join_path(top_, path).c_str(), &info) == 0 && S_ISREG(info.st_mode))
    sent_[path] = {info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, static_cast<long long>(info.st_ino),
                   info.st_mode & 0100U};
}

Status AnnexFolder::apply(const AnnexFrame& frame) {
  if (!is_plain_path(frame.path)) return fail(ErrorKind::kInput, "\"{}\" is not a file path", frame.path);
  const auto cannot = [&] { return fail(ErrorKind::kIo, "cannot write {}: {}", frame.path, errno_text(errno)); };
  TRY_VALUE(const Fd folder, open_folder_below(top_, frame.path));
  const std::string name = base_name(frame.path), part = name + ".ralph-part";
  if (frame.word == AnnexWord::kGone) {
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) return cannot();
    sent_.erase(frame.path);
    return {};
  }
  const bool grows = frame.word == AnnexWord::kGrown;
  if (!grows) ::unlinkat(folder.get(), part.c_str(), 0);
  const int how = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (grows ? O_APPEND : O_EXCL);
  const Fd file(::openat(folder.get(), (grows ? name : part).c_str(), how, frame.number != 0 ? 0755 : 0644));
  if (!file) return cannot();
  TRY(write_all(file.get(), frame.bytes, frame.path));
  if (!grows && ::renameat(folder.get(), part.c_str(), folder.get(), name.c_str()) != 0) {
    const int error = errno;
    ::unlinkat(folder.get(), part.c_str(), 0);
    errno = error;
    return cannot();
  }
  remember(frame.path);
  return {};
}

}  // namespace ralph
