#include "checks/lsp/disk.h"

#include <filesystem>
#include <sys/stat.h>

#include "base/text.h"

namespace ralph::lsp {
namespace {

constexpr size_t kMostEntries = 300'000;
constexpr std::string_view kSkipped[] = {".git", ".ralph", "node_modules", ".venv", "__pycache__", "target"};

}  // namespace

std::vector<ChangedOnDisk> Disk::look() {
  namespace fs = std::filesystem;
  std::map<std::string, Stamp> now;
  std::error_code error;
  size_t entries = 0;
  auto at = fs::recursive_directory_iterator(root_, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator() && ++entries < kMostEntries; at.increment(error)) {
    const std::string& path = at->path().native();
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    std::error_code ignored;
    if (!at->is_symlink(ignored) && at->is_directory(ignored)) {
      if (is_one_of(name, kSkipped)) at.disable_recursion_pending();
      continue;
    }
    if (language_of(row_, name).empty() && !is_one_of(name, row_.watched)) continue;
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    now[path] = {info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec, static_cast<long long>(info.st_size)};
  }
  std::vector<ChangedOnDisk> changes;
  if (looked_) {
    for (const auto& [path, stamp] : now) {
      const auto before = files_.find(path);
      if (before == files_.end()) {
        changes.push_back({path, DiskChange::kCreated});
      } else if (before->second != stamp) {
        changes.push_back({path, DiskChange::kChanged});
      }
    }
    for (const auto& [path, stamp] : files_) {
      if (!now.contains(path)) changes.push_back({path, DiskChange::kDeleted});
    }
  }
  looked_ = true;
  files_ = std::move(now);
  return changes;
}

}  // namespace ralph::lsp
