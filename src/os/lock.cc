#include "os/lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/poll.h"

namespace ralph {

Result<Lock> Lock::acquire(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return fail(ErrorKind::kIo, "cannot open the lock {}: {}", path, errno_text(errno));
  struct stat info{};
  if (::fstat(fd.get(), &info) == 0 && info.st_nlink > 1)
    return fail(ErrorKind::kIo, "cannot use the lock {}: it is a hard link to a file elsewhere; remove it", path);
  // `ralph runs` takes the lock for an instant to see whether a run is alive: that does not make it an owner.
  int locked = ::flock(fd.get(), LOCK_EX | LOCK_NB);
  for (int tries = 0; locked != 0 && errno == EWOULDBLOCK && tries < 5; ++tries) {
    sleep_for(Milliseconds(10));
    locked = ::flock(fd.get(), LOCK_EX | LOCK_NB);
  }
  if (locked != 0) {
    if (errno != EWOULDBLOCK) return fail(ErrorKind::kIo, "cannot lock {}: {}", path, errno_text(errno));
    return fail(ErrorKind::kBusy, "{}", trim(read_file(path).value_or("")));
  }
  // The line of an earlier owner would name the wrong process until name_owner() is called.
  if (::ftruncate(fd.get(), 0) != 0) return fail(ErrorKind::kIo, "cannot write {}: {}", path, errno_text(errno));
  return Lock(std::move(fd), path);
}

Status Lock::name_owner(std::string_view line) {
  // The file is emptied, never removed: a lock on a removed file would let two owners in.
  if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0) {
    return fail(ErrorKind::kIo, "cannot write {}: {}", path_, errno_text(errno));
  }
  return write_all(fd_.get(), line, path_);
}

}  // namespace ralph
