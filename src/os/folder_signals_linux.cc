#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

#include "os/folder_signals.h"

namespace ralph {

namespace {

bool is_at(const Fd& fd, const std::string& path) {
  struct stat open{}, there{};
  return ::fstat(fd.get(), &open) == 0 && ::stat(path.c_str(), &there) == 0 && open.st_dev == there.st_dev &&
         open.st_ino == there.st_ino;
}

}  // namespace

bool FolderSignals::add(const std::string& folder) {
  const auto known = std::ranges::find(folders_, folder, &std::pair<std::string, Fd>::first);
  if (known != folders_.end() && is_at(known->second, folder)) return true;
  if (known != folders_.end()) folders_.erase(known);  // it was removed and recreated
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr unsigned kEvents = DN_CREATE | DN_RENAME | DN_DELETE | DN_MULTISHOT;
  if (!fd || ::fcntl(fd.get(), F_NOTIFY, kEvents) != 0) return false;
  folders_.emplace_back(folder, std::move(fd));
  return true;
}

}  // namespace ralph
