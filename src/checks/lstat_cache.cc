#include "checks/lstat_cache.h"

#include <utility>

#include "os/files.h"

namespace ralph {

LstatCache::LstatCache(const std::vector<std::string>& folders) {
  folders_.emplace("/", true);
  folders_.emplace("", true);
  folders_.emplace(".", true);  // the parent of a relative path, and its own
  for (const std::string& folder : folders) {
    folders_.emplace(folder, true);
    struct stat info{};
    seen_.emplace(folder, ::lstat(folder.c_str(), &info) == 0 ? std::optional(info) : std::nullopt);
  }
}

const struct stat* LstatCache::at(const std::string& path) {
  auto known = seen_.find(path);
  if (known == seen_.end()) {
    struct stat info{};
    const bool there = can_have_more(parent_path(path)) && ::lstat(path.c_str(), &info) == 0;
    known = seen_.emplace(path, there ? std::optional(info) : std::nullopt).first;
  }
  return known->second ? &*known->second : nullptr;
}

std::vector<std::string> LstatCache::list(const std::string& folder) {
  listed_.push_back(folder);
  return names_in(folder);
}

const struct stat* LstatCache::seen_at(const std::string& path) const {
  const auto known = seen_.find(path);
  return known != seen_.end() && known->second ? &*known->second : nullptr;
}

bool LstatCache::is_known_to_be_missing(const std::string& path) const {
  const auto known = seen_.find(path);
  return known != seen_.end() && !known->second;
}

bool LstatCache::is(const std::string& path, unsigned type) {
  const struct stat* info = at(path);
  return info && (info->st_mode & S_IFMT) == type;
}

// A link may lead to a folder.
bool LstatCache::can_have_more(const std::string& folder) {
  if (const auto known = folders_.find(folder); known != folders_.end()) return known->second;
  const bool may = is_folder(folder) || is_link(folder);
  folders_.emplace(folder, may);
  return may;
}

namespace {

bool is_same_place(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_mode == b.st_mode;
}

bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// mtime alone can be set back; ctime can't.
bool is_same(const struct stat& a, const struct stat& b) {
  return is_same_place(a, b) && a.st_size == b.st_size && is_same_time(a.st_mtim, b.st_mtim) &&
         is_same_time(a.st_ctim, b.st_ctim);
}

// The longest tick of a clock that could have made this time. File systems without nanoseconds count whole seconds or
// two.
Milliseconds tick_of(const struct stat& info) {
  return Milliseconds(info.st_ctim.tv_nsec == 0 ? 2500 : 40);
}

// Zeros if nothing is there.
struct stat target_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) info = {};
  return info;
}

}  // namespace

void ScanMemo::remember(const LstatCache& lstats, MonotonicTime began) {
  const ScanMemo before = std::exchange(*this, {});
  known_ = true;
  const auto folder_at = [&](const std::string& path) -> Folder* {
    const struct stat* info = lstats.seen_at(path);
    if (!info || !S_ISDIR(info->st_mode)) return nullptr;
    const auto [place, is_new] = folders_.try_emplace(path, Folder{*info, began});
    Folder& folder = place->second;
    if (!is_new) return &folder;
    const auto old = before.folders_.find(path);
    if (old != before.folders_.end() && is_same(old->second.info, *info)) folder.since = old->second.since;
    folder.sure = began - folder.since >= tick_of(*info);
    return &folder;
  };
  for (const std::string& path : lstats.listed()) {
    if (Folder* folder = folder_at(path)) folder->listed = true;
  }
  for (const auto& [path, info] : lstats.seen()) {
    if (info) continue;
    const std::string above = parent_path(path);
    if (Folder* folder = folder_at(above)) {
      folder->missing.push_back(path);
    } else if (!lstats.is_known_to_be_missing(above)) {
      missing_.push_back(path);
    }
  }
  for (const auto& [path, info] : lstats.seen()) {
    if (!info) continue;
    Seen seen{path, *info, !S_ISDIR(info->st_mode) || folders_.contains(path)};
    if (S_ISLNK(info->st_mode)) seen.target = target_of(path);
    seen_.push_back(std::move(seen));
  }
}

bool ScanMemo::still_holds(MonotonicTime now) {
  if (!known_) return false;
  for (const Seen& seen : seen_) {
    struct stat info{};
    if (::lstat(seen.path.c_str(), &info) != 0) return false;
    if (!(seen.whole ? is_same(info, seen.info) : is_same_place(info, seen.info))) return false;
    if (S_ISLNK(info.st_mode) && !is_same(target_of(seen.path), seen.target)) return false;
  }
  for (auto& [path, folder] : folders_) {
    if (folder.sure) continue;
    if (folder.listed) return false;
    for (const std::string& missing : folder.missing) {
      if (path_exists(missing)) return false;
    }
    folder.sure = now - folder.since >= tick_of(folder.info);
  }
  for (const std::string& missing : missing_) {
    if (path_exists(missing)) return false;
  }
  return true;
}

}  // namespace ralph
