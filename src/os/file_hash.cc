#include "os/file_hash.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"

namespace ralph {

std::optional<Sha256> hash_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  Sha256 hash;
  std::string part(256 << 10, '\0');
  for (;;) {
    const ssize_t size = ::read(file.get(), part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) return hash;
    hash.add(std::string_view(part).substr(0, static_cast<size_t>(size)));
  }
}

}  // namespace ralph
