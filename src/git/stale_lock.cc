#include "git/stale_lock.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "os/process_tree.h"

namespace ralph {

Result<std::optional<std::string>> find_stale_index_lock(const Git& git, const std::string& folder, WallTime since) {
  TRY_VALUE(const auto answer, git({"rev-parse", "--git-path", "index.lock"}));
  if (answer.code != 0) return std::nullopt;  // not a repository
  std::string path = absolute_path(trim(answer.output), folder);
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return std::nullopt;
  if (WallTime(std::chrono::seconds(info.st_mtim.tv_sec + 1)) < since || is_open_somewhere(real_path(path)))
    return std::nullopt;
  return path;
}

Result<bool> remove_stale_index_lock(const Git& git, const std::string& folder, WallTime since) {
  TRY_VALUE(const auto path, find_stale_index_lock(git, folder, since));
  if (!path) return false;
  if (::unlink(path->c_str()) != 0) return fail(ErrorKind::kIo, "cannot remove {}: {}", *path, errno_text(errno));
  return true;
}

}  // namespace ralph
