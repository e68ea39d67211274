#include <algorithm>
#include <fcntl.h>

#include "os/folder_signals.h"

namespace ralph {

bool FolderSignals::add(const std::string& folder) {
  if (std::ranges::find(folders_, folder, &std::pair<std::string, Fd>::first) != folders_.end()) return true;
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr unsigned kEvents = DN_CREATE | DN_RENAME | DN_DELETE | DN_MULTISHOT;
  if (!fd || ::fcntl(fd.get(), F_NOTIFY, kEvents) != 0) return false;
  folders_.emplace_back(folder, std::move(fd));
  return true;
}

}  // namespace ralph
