#include "os/files.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/real_paths.h"

namespace ralph {
namespace {

tl::unexpected<Error> cannot(std::string_view what, std::string_view path, int error) {
  const ErrorKind kind = error == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  return fail(kind, "cannot {} {}: {}", what, path, errno_text(error));
}

constexpr size_t kRandomLetters = 6;

// A hidden name that nobody else uses.
std::string temporary_prefix(const std::string& path) {
  return join_path(parent_path(path), fmt::format(".{}.ralph-", base_name(path)));
}

mode_t masked_by_user(unsigned mode) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mode & ~mask;
}

// For a file that nothing can be renamed to, because it is a mount of its own (a settings file in a container).
Status overwrite(const std::string& path, std::string_view content, bool to_the_disk) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
  if (!fd) return cannot("write", path, errno);
  TRY(write_all(fd.get(), content, path));
  if (to_the_disk && ::fsync(fd.get()) != 0) return cannot("write", path, errno);
  return {};
}

Status replace(const std::string& path, std::string_view content, unsigned mode, bool to_the_disk) {
  struct stat old{};
  mode = ::lstat(path.c_str(), &old) == 0 && S_ISREG(old.st_mode) ? old.st_mode & 07777 : masked_by_user(mode);
  std::string temporary = temporary_prefix(path) + std::string(kRandomLetters, 'X');
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return cannot("write", path, errno);
  Status written = write_all(fd.get(), content, path);
  if (written && ::fchmod(fd.get(), mode) != 0) written = cannot("write", path, errno);
  if (written && to_the_disk && ::fsync(fd.get()) != 0) written = cannot("write", path, errno);
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    if (!written) return written;
    return error == EBUSY ? overwrite(path, content, to_the_disk) : Status(cannot("write", path, error));
  }
  return {};
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool file_exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

bool is_directory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_regular_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first{}, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

bool is_there(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

bool is_real_file(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool is_real_folder(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_executable_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> read_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return cannot("read", path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return cannot("read", path, errno);
  if (S_ISDIR(info.st_mode)) return cannot("read", path, EISDIR);
  std::string content;
  size_t used = 0;
  for (;;) {
    content.resize(used + std::max<size_t>(static_cast<size_t>(info.st_size) + 1, 4096));
    const ssize_t n = ::read(fd.get(), content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("read", path, errno);
    used += static_cast<size_t>(n);
    if (n == 0) break;
  }
  content.resize(used);
  return content;
}

Result<std::string> read_before_end(const std::string& path, size_t before_end, size_t most) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) return cannot("read", path, errno);
  const auto size = static_cast<size_t>(info.st_size);
  std::string content(std::min(before_end, most), '\0');
  const ssize_t n =
      ::pread(fd.get(), content.data(), content.size(), static_cast<off_t>(size - std::min(size, before_end)));
  if (n < 0) return cannot("read", path, errno);
  content.resize(static_cast<size_t>(n));
  return content;
}

Status write_all(int fd, std::string_view bytes, std::string_view path_for_errors) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("write", path_for_errors, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

void remove_unfinished_writes(const std::string& path) {
  const std::string prefix = base_name(temporary_prefix(path));
  for (const std::string& name : names_in(parent_path(path))) {
    if (name.size() != prefix.size() + kRandomLetters || !name.starts_with(prefix)) continue;
    const std::string left = join_path(parent_path(path), name);
    if (is_real_file(left)) ::unlink(left.c_str());
  }
}

void remove_abandoned_writes(const std::string& folder) {
  constexpr std::string_view kMark = ".ralph-";
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with('.') || name.size() < kMark.size() + kRandomLetters + 2 ||
        !std::string_view(name).substr(0, name.size() - kRandomLetters).ends_with(kMark))
      continue;
    const std::string path = join_path(folder, name);
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    // Long enough for any write that is under way, also by a process that was stopped for a while.
    if (::time(nullptr) - info.st_mtime > 3600) ::unlink(path.c_str());
  }
}

Status replace_file(const std::string& path, std::string_view content, unsigned mode) {
  return replace(path, content, mode, false);
}

Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
  TRY(replace(path, content, mode, true));
  remove_abandoned_writes(parent_path(path));
  Fd folder(::open(parent_path(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
  return {};
}

Status make_directories(const std::string& path) {
  if (path.empty() || is_directory(path)) return {};
  TRY(make_directories(parent_path(path)));
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return cannot("create the folder", path, errno);
  if (!is_directory(path)) return cannot("create the folder", path, ENOTDIR);
  return {};
}

Result<Fd> open_for_append(const std::string& path, unsigned mode) {
  // A named pipe at this path must not block us.
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, mode));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) return cannot("write", path, errno);
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::kIo, "cannot write {}: it is not a plain file", path);
  if (info.st_nlink > 1) return fail(ErrorKind::kIo, "cannot write {}: it is a hard link to a file elsewhere", path);
  return fd;
}

std::string join_path(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/')) return std::string(name);
  std::string path;
  path.reserve(folder.size() + 1 + name.size());
  path += folder;
  if (!folder.ends_with('/')) path += '/';
  return path += name;
}

std::string parent_path(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

Result<std::string> path_of_this_program() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  std::string self(path, n > 0 ? static_cast<size_t>(n) : 0);
  if (!is_executable_file(self))
    return fail(ErrorKind::kNotFound, "ralph's own program {} is not there any more; was it replaced? Start again",
                self);
  return self;
}

Result<std::string> current_directory() {
  char buffer[PATH_MAX];
  if (!::getcwd(buffer, sizeof buffer)) return cannot("find", "the current folder", errno);
  return std::string(buffer);
}

std::string absolute_path(std::string_view path, std::string_view base) {
  std::string result;
  const std::string joined = join_path(base, path);
  result.reserve(joined.size());
  for (size_t begin = 0, end = 0; begin <= joined.size(); begin = end + 1) {
    end = std::min(joined.find('/', begin), joined.size());
    const std::string_view part = std::string_view(joined).substr(begin, end - begin);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      result.resize(result.find_last_of('/') == std::string::npos ? 0 : result.find_last_of('/'));
    } else {
      result += '/';
      result += part;
    }
  }
  return result.empty() ? "/" : result;
}

std::string real_path(const std::string& path) {
  return RealPaths().of(path.starts_with('/') ? path : join_path(current_directory().value_or("/"), path));
}

}  // namespace ralph
