#include "os/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace ralph {

Result<Lock> Lock::acquire(const std::string& path, std::string_view owner) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return fail(ErrorKind::kIo, "cannot open the lock {}: {}", path, errno_text(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail(ErrorKind::kIo, "cannot lock {}: {}", path, errno_text(errno));
    return fail(ErrorKind::kBusy, "{}", trim(read_file(path).value_or("")));
  }
  // The file is never removed: a lock on a removed file would let two owners in.
  if (::ftruncate(fd.get(), 0) != 0) return fail(ErrorKind::kIo, "cannot write {}: {}", path, errno_text(errno));
  TRY(write_all(fd.get(), owner, path));
  return Lock(std::move(fd));
}

}  // namespace ralph
