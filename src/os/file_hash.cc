#include "os/file_hash.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"

namespace ralph {

std::optional<Sha256> hash_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  Sha256 hash;
  const size_t most = std::clamp<size_t>(static_cast<size_t>(info.st_size) + 1, 4 << 10, 256 << 10);
  const auto part = std::make_unique_for_overwrite<char[]>(most);
  for (;;) {
    const ssize_t size = ::read(file.get(), part.get(), most);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) return hash;
    hash.add(std::string_view(part.get(), static_cast<size_t>(size)));
  }
}

}  // namespace ralph
