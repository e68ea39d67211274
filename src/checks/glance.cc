#include "checks/glance.h"

#include "os/files.h"

namespace ralph {

Glance::Glance(const std::vector<std::string>& folders) {
  folders_.emplace("/", true);
  folders_.emplace("", true);
  folders_.emplace(".", true);  // the parent of a relative path, and its own
  for (const std::string& folder : folders) {
    folders_.emplace(folder, true);
    struct stat info{};
    seen_.emplace(folder, ::lstat(folder.c_str(), &info) == 0 ? std::optional(info) : std::nullopt);
  }
}

const struct stat* Glance::at(const std::string& path) {
  auto known = seen_.find(path);
  if (known == seen_.end()) {
    struct stat info{};
    const bool there = can_have_more(parent_path(path)) && ::lstat(path.c_str(), &info) == 0;
    known = seen_.emplace(path, there ? std::optional(info) : std::nullopt).first;
  }
  return known->second ? &*known->second : nullptr;
}

std::vector<std::string> Glance::list(const std::string& folder) {
  listed_.push_back(folder);
  return names_in(folder);
}

const struct stat* Glance::seen_at(const std::string& path) const {
  const auto known = seen_.find(path);
  return known != seen_.end() && known->second ? &*known->second : nullptr;
}

bool Glance::is_known_to_be_missing(const std::string& path) const {
  const auto known = seen_.find(path);
  return known != seen_.end() && !known->second;
}

bool Glance::is(const std::string& path, unsigned type) {
  const struct stat* info = at(path);
  return info && (info->st_mode & S_IFMT) == type;
}

// A link may lead to a folder.
bool Glance::can_have_more(const std::string& folder) {
  if (const auto known = folders_.find(folder); known != folders_.end()) return known->second;
  const bool may = is_folder(folder) || is_link(folder);
  folders_.emplace(folder, may);
  return may;
}

}  // namespace ralph
