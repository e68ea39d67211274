#include "os/files.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

#include "base/text.h"
#include "os/real_paths.h"

namespace ralph {
namespace {

tl::unexpected<Error> cannot(std::string_view what, std::string_view path, int error) {
  const ErrorKind kind = error == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  return fail(kind, "cannot {} {}: {}", what, path, errno_text(error));
}

constexpr size_t kRandomLetters = 6;
constexpr size_t kMostDeviceBytes = 16 << 20;  // /dev/null has none, and a terminal few
constexpr size_t kMostFileBytes = 1 << 30;     // for a whole file: an agent may create a sparse one of any size

// The start of a hidden name that nobody else uses.
std::string temporary_prefix(const std::string& path) {
  return join_path(parent_path(path), fmt::format(".{}.ralph-", base_name(path)));
}

mode_t masked_by_user(unsigned mode) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mode & ~mask;
}

// For a file that nothing can be renamed over, because it is itself a mount point (a settings file in a container).
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

bool path_exists(const std::string& path) {
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
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return cannot("read", path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return cannot("read", path, errno);
  if (S_ISDIR(info.st_mode)) return cannot("read", path, EISDIR);
  // Somebody may have replaced a file with a pipe, or a link to a terminal, to make us wait.
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) {
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  } else if (S_ISFIFO(info.st_mode)) {
    return fail(ErrorKind::kIo, "cannot read {}: it is a pipe, not a file", path);
  }
  std::string content;
  size_t used = 0;
  for (;;) {
    const size_t most = S_ISCHR(info.st_mode) ? kMostDeviceBytes : kMostFileBytes;
    if (used > most || info.st_size > static_cast<off_t>(most)) return cannot("read", path, EFBIG);
    content.resize(used + std::max<size_t>(static_cast<size_t>(info.st_size) + 1, 4096));
    const ssize_t n = ::read(fd.get(), content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("read", path, errno);
    used += static_cast<size_t>(n);
    // A short read of a plain file is its end; the files of /proc come in pieces.
    if (n == 0 || (S_ISREG(info.st_mode) && info.st_size > 0 && used < content.size())) break;
  }
  content.resize(used);
  return content;
}

Fd open_without_links(const std::string& path, int how) {
#ifdef SYS_openat2
  open_how request{};
  request.flags = static_cast<std::uint64_t>(how);
  request.resolve = RESOLVE_NO_SYMLINKS;
  return Fd(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.empty() ? "." : path.c_str(), &request, sizeof request)));
#else
  static_cast<void>(path), static_cast<void>(how);
  errno = ENOSYS;
  return Fd();
#endif
}

Result<std::string> read_without_links(const std::string& path, size_t most) {
  constexpr int kHow = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
  Fd file = open_without_links(path, kHow);
  if (!file && errno == ENOSYS) {  // an old kernel, or a seccomp filter: go part by part
    Fd folder(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (const std::string& part : split(parent_path(path), '/'))
      if (!part.empty())
        folder = Fd(::openat(folder.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    file = Fd(::openat(folder.get(), base_name(path).c_str(), kHow));
  }
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return cannot("read", path, errno);
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::kIo, "cannot read {}: it is no plain file", path);
  if (info.st_size > static_cast<off_t>(most)) return cannot("read", path, EFBIG);
  std::string content(most < static_cast<size_t>(info.st_size) + 1 ? most : static_cast<size_t>(info.st_size) + 1,
                      '\0');
  size_t used = 0;
  while (used < content.size()) {
    const ssize_t n = ::read(file.get(), content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("read", path, errno);
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  content.resize(used);
  return content;
}

Result<std::string> read_within(const std::string& path, const std::vector<std::string>& folders) {
  const auto is_in_one = [&](const std::string& place) {
    return std::ranges::any_of(folders, [&](const std::string& folder) { return is_within(place, folder); });
  };
  bool through = false;
  for (size_t slash = path.find('/', 1); !through && slash != std::string::npos; slash = path.find('/', slash + 1))
    through = is_in_one(real_path(path.substr(0, slash)));
  if (!through) return read_file(path);
  const std::string real = real_path(path);
  if (!is_in_one(real))
    return fail(
        ErrorKind::kInput,
        "{} leads to {}, outside of {}; an agent in a sandbox could have made that link, to be shown what it must "
        "not see. If it is yours, name {} itself",
        path, real, folders.front(), real);
  return read_without_links(real, kMostFileBytes);
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
    // Long enough for any write in progress, even by a process that was stopped for a while.
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

Result<Fd> open_folder_below(const std::string& top, const std::string& name) {
  constexpr int kHow = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  Fd folder(::open(top.c_str(), kHow));
  if (!folder) return cannot("open", top, errno);
  const std::vector<std::string> parts = split(name, '/');
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (::mkdirat(folder.get(), parts[i].c_str(), 0700) != 0 && errno != EEXIST)
      return cannot("create the folder of", join_path(top, name), errno);
    Fd next(::openat(folder.get(), parts[i].c_str(), kHow | O_NOFOLLOW));
    if (!next) return cannot("open the folder of", join_path(top, name), errno);
    folder = std::move(next);
  }
  return folder;
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
    return fail(ErrorKind::kNotFound, "ralph's own program {} no longer exists; was it replaced? Start again", self);
  return self;
}

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return !folder.empty() && path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string path_below(std::string_view path, std::string_view folder) {
  if (path.size() <= folder.size() || !is_within(path, folder)) return {};
  return std::string(path.substr(folder == "/" ? 1 : folder.size() + 1));
}

Result<std::string> current_directory() {
  char buffer[PATH_MAX];
  if (!::getcwd(buffer, sizeof buffer)) return cannot("find", "the current folder", errno);
  return std::string(buffer);
}

namespace {

std::optional<std::string>& left_directory() {
  static std::optional<std::string> folder;
  return folder;
}

}  // namespace

std::string shell_directory() {
  return left_directory() ? *left_directory() : current_directory().value_or("");
}

bool enter_directory(const std::string& path) {
  const std::string here = shell_directory();
  if (::chdir(path.c_str()) != 0) return false;
  left_directory() = here;
  return true;
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
