#include "checks/file_facts.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include "os/file_hash.h"
#include "os/files.h"

namespace ralph {

std::string stamp_of_file(const struct stat& info) {
  return fmt::format("{} {} {} {:o} {}.{} {}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mode,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

std::optional<std::string> content_of_file(const std::string& path, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) {
    std::string target(4096, '\0');
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return std::nullopt;
    target.resize(static_cast<size_t>(size));
    return target;
  }
  if (!S_ISREG(info.st_mode)) return std::nullopt;
  const auto text = read_file(path);
  return text ? std::optional(*text) : std::nullopt;
}

std::optional<std::string> hash_of_file(const std::string& path) {
  const auto hash = hash_file(path);
  return hash ? std::optional(hash->hex()) : std::nullopt;
}

Status move_away(const std::string& path, const std::string& to) {
  if (!path_exists(path)) return {};
  TRY(make_directories(parent_path(to)));
  std::string free = to;
  for (int n = 1; path_exists(free); ++n) free = fmt::format("{}.{}", to, n);
  if (::rename(path.c_str(), free.c_str()) == 0) return {};
  if (errno == EXDEV) {  // the repository may be on a different file system from the run's folder
    std::error_code failed;
    const auto kind = std::filesystem::symlink_status(path, failed).type();
    using enum std::filesystem::file_type;
    if (kind != regular && kind != directory && kind != symlink && ::unlink(path.c_str()) == 0) return {};
    std::filesystem::copy(
        path, free, std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks, failed);
    if (!failed) std::filesystem::remove_all(path, failed);
    if (!failed) return {};
    return fail(ErrorKind::kIo, "cannot move {} away: {}", path, failed.message());
  }
  return fail(ErrorKind::kIo, "cannot move {} away: {}", path, std::strerror(errno));
}

}  // namespace ralph
