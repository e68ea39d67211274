#include "journal/raw_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace ralph {
namespace {

std::string_view advice_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; free disk space there";
    case EFBIG:
      return "; the file size limit is reached (ulimit -f, or the file system's)";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; make the folder writable for this user";
    case ELOOP:
      return "; it is a symlink, which ralph does not follow here: remove it";
    case EEXIST:
      return "; remove it";
    case EMLINK:
      return "; it is a hard link to a file elsewhere, which ralph does not write to: remove it";
    case ENXIO:  // from opening a pipe without a reader
      return "; it is not a plain file: remove it";
    default:
      return "";
  }
}

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

// How often a file is created anew if a process removes its folder, or a name in it, between two steps.
constexpr int kMostTries = 100;

// Opens the folder of `path` without following symlinks. The project's path comes from getcwd and has none when a run
// begins, so any symlink was planted later to redirect us. An invalid descriptor leaves the reason in errno.
Fd walk_to_folder_of(const std::string& path) {
  constexpr int kHow = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  if (Fd at_once = open_without_links(parent_path(path), kHow)) return at_once;
  Fd folder(::open(path.starts_with('/') ? "/" : ".", kHow));
  bool ours = false;  // .ralph and below: recreated if an agent removed it
  for (const std::string& part : split(parent_path(path), '/')) {
    if (part.empty() || part == ".") continue;
    if (!folder) break;
    ours = ours || part == ".ralph";
    Fd next(::openat(folder.get(), part.c_str(), kHow));
    if (!next && errno == ENOENT && ours && (::mkdirat(folder.get(), part.c_str(), 0755) == 0 || errno == EEXIST))
      next = Fd(::openat(folder.get(), part.c_str(), kHow));
    folder = std::move(next);
  }
  return folder;
}

Result<Fd> open_folder_of(const std::string& path) {
  Fd folder = walk_to_folder_of(path);
  for (int tries = 1; !folder && errno == ENOENT && tries < kMostTries; ++tries) folder = walk_to_folder_of(path);
  if (!folder) return cannot_write(path, errno);
  return folder;
}

// Adds a name for the open file, whose path is `target`. Returns 0 or an errno.
int add_name(const Fd& file, const std::string& target, const Fd& folder, const std::string& path, RawFile::Link kind) {
  const std::string name = base_name(path), own = fmt::format("/proc/self/fd/{}", file.get());
  if (::linkat(AT_FDCWD, own.c_str(), folder.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
  if (errno == EEXIST || kind == RawFile::Link::kHard) return errno;
  const std::string above = parent_path(path) + "/";
  const std::string relative = target.starts_with(above) ? target.substr(above.size()) : target;
  return ::symlinkat(relative.c_str(), folder.get(), name.c_str()) == 0 ? 0 : errno;
}

}  // namespace

tl::unexpected<Error> cannot_write(std::string_view path, int error) {
  return fail(ErrorKind::kIo, "cannot write {}: {}{}", path, errno_text(error), advice_for(error));
}

Result<RawFile> RawFile::create(const std::string& path) {
  const std::string name = base_name(path);
  constexpr int kHow = O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  Fd fd;
  for (int tries = 0; !fd && tries < kMostTries; ++tries) {
    TRY_VALUE(const Fd folder, open_folder_of(path));
    fd = Fd(::openat(folder.get(), name.c_str(), kHow, 0600));
    if (!fd && errno == EEXIST) {
      if (::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) return cannot_write(path, errno);
      fd = Fd(::openat(folder.get(), name.c_str(), kHow, 0600));
    }
    if (!fd && errno != ENOENT && errno != EEXIST) break;
  }
  if (!fd) return cannot_write(path, errno);
  return RawFile(std::move(fd), path);
}

// Reads from our own descriptor, not by name: an agent may have replaced the file.
Result<std::int64_t> RawFile::keep_end(size_t bytes) {
  const off_t size = ::lseek(fd_.get(), 0, SEEK_END);
  if (size < 0) return cannot_write(path_, errno);
  off_t from = size - std::min(static_cast<off_t>(bytes), size);
  char buffer[64 * 1024];
  const auto read_at = [&](off_t at) { return ::pread(fd_.get(), buffer, sizeof buffer, at); };
  if (const ssize_t n = from > 0 ? read_at(from) : 0; n > 0) {
    const size_t end = std::string_view(buffer, static_cast<size_t>(n)).find('\n');
    if (end != std::string_view::npos) from += static_cast<off_t>(end) + 1;
  }
  const std::string draft = path_ + ".cut";
  TRY_VALUE(RawFile kept, create(draft));
  for (off_t at = from; at < size;) {
    const ssize_t n = read_at(at);
    if (n <= 0) return cannot_write(path_, n < 0 ? errno : EIO);
    TRY(kept.append(std::string_view(buffer, static_cast<size_t>(n))));
    at += n;
  }
  TRY_VALUE(const Fd folder, open_folder_of(path_));
  if (::renameat(folder.get(), base_name(draft).c_str(), folder.get(), base_name(path_).c_str()) != 0)
    return cannot_write(path_, errno);
  fd_ = std::move(kept.fd_);
  return from;
}

Result<RawFile> RawFile::append_to(const std::string& path) {
  // Opening a pipe for writing waits for a reader; O_NONBLOCK makes it an error, and has no effect on files.
  TRY_VALUE(const Fd folder, open_folder_of(path));
  Fd fd(::openat(folder.get(), base_name(path).c_str(),
                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!fd) return cannot_write(path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return cannot_write(path, errno);
  if (!S_ISREG(info.st_mode)) return cannot_write(path, ENXIO);
  if (info.st_nlink > 1) return cannot_write(path, EMLINK);
  return RawFile(std::move(fd), path);
}

Status RawFile::link_at(const std::string& path, Link kind) const {
  TRY_VALUE(const Fd folder, open_folder_of(path));
  const int first = add_name(fd_, path_, folder, path, kind);
  if (first == 0) return {};  // there was nothing to replace
  if (first != EEXIST) return cannot_write(path, first);
  const std::string name = base_name(path), draft = name + ".new";
  if (::unlinkat(folder.get(), draft.c_str(), 0) != 0 && errno != ENOENT) return cannot_write(path, errno);
  if (const int error = add_name(fd_, path_, folder, path + ".new", kind); error != 0) return cannot_write(path, error);
  const int error = ::renameat(folder.get(), draft.c_str(), folder.get(), name.c_str()) == 0 ? 0 : errno;
  ::unlinkat(folder.get(), draft.c_str(), 0);  // rename() leaves it if both names already are the same file's
  if (error != 0) return cannot_write(path, error);
  return {};
}

bool RawFile::holds(std::string_view bytes) const {
  std::string content(bytes.size() + 1, '\0');
  const ssize_t size = ::pread(fd_.get(), content.data(), content.size(), 0);
  return size == static_cast<ssize_t>(bytes.size()) && content.starts_with(bytes);
}

Status RawFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_write(path_, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace ralph
