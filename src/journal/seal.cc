#include "journal/seal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ralph {

void Seal::set(std::string_view hash) {
  if (path_.empty()) return;
  if (is_in_place() && ::pwrite(file_.get(), hash.data(), hash.size(), 0) == static_cast<ssize_t>(hash.size())) return;
  if (!replace_file(path_, hash, 0600)) return;
  file_ = Fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
}

// False if somebody removed or replaced the file.
bool Seal::is_in_place() const {
  struct stat info{};
  return file_ && ::fstat(file_.get(), &info) == 0 && info.st_nlink == 1;
}

}  // namespace ralph
