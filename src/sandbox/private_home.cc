#include "sandbox/private_home.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kMaxCopied = 4 << 20;

tl::unexpected<Error> cannot(std::string_view what, const std::string& path) {
  return fail(ErrorKind::kIo, "cannot {} {} for the sandbox's home: {}", what, path, errno_text(errno));
}

bool is_newer(const struct stat& a, const struct stat& b) {
  return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
                                              : a.st_mtim.tv_nsec > b.st_mtim.tv_nsec;
}

// Replaces `name` below `private_home` if the original is newer. `write` gets a descriptor of the folder and the name
// of the temporary file to create there.
Status put(const std::string& private_home, const std::string& name,
           const std::function<Status(int folder, const std::string& part)>& write, const struct stat& original) {
  TRY_VALUE(const Fd folder, open_folder_below(private_home, name));
  const std::string last = base_name(name), part = last + ".ralph-part";
  struct stat copy{};
  const bool there = ::fstatat(folder.get(), last.c_str(), &copy, AT_SYMLINK_NOFOLLOW) == 0 &&
                     (copy.st_mode & S_IFMT) == (original.st_mode & S_IFMT);
  if (there && !is_newer(original, copy)) return {};
  ::unlinkat(folder.get(), part.c_str(), 0);
  TRY(write(folder.get(), part));
  const struct timespec times[2] = {original.st_atim, original.st_mtim};
  ::utimensat(folder.get(), part.c_str(), times, AT_SYMLINK_NOFOLLOW);
  if (::renameat(folder.get(), part.c_str(), folder.get(), last.c_str()) != 0)
    return cannot("write", join_path(private_home, name));
  return {};
}

Status copy_file(const std::string& source, const std::string& private_home, const std::string& name,
                 const struct stat& original) {
  const auto write = [&](int folder, const std::string& part) -> Status {
    TRY_VALUE(const std::string text, read_file(source));
    const unsigned mode = (original.st_mode & 0100) != 0 ? 0700 : 0600;
    const Fd file(::openat(folder, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file) return cannot("write", join_path(private_home, name));
    return write_all(file.get(), text, join_path(private_home, name));
  };
  return put(private_home, name, write, original);
}

// Copies a folder recursively.
class FolderCopy {
 public:
  FolderCopy(std::string home, std::string private_home, const std::string& name)
      : home_(std::move(home)), private_home_(std::move(private_home)), top_(join_path(home_, name)) {}

  Status copy(const std::string& name, int depth = 0) {
    const std::string folder = join_path(home_, name);
    for (const std::string& entry : names_in(folder)) {
      if (entry == "." || entry == "..") continue;
      const std::string below = join_path(name, entry), path = join_path(home_, below);
      struct stat info{};
      if (is_own_link(path, info)) {
        TRY(count(0));
        TRY(put(private_home_, below, link_writer(path), info));
        continue;
      }
      if (::stat(path.c_str(), &info) != 0) continue;  // a dangling link
      if (S_ISDIR(info.st_mode)) {
        if (depth >= kMostDepth) return too_much();
        TRY(copy(below, depth + 1));
      } else if (S_ISREG(info.st_mode)) {
        TRY(count(static_cast<size_t>(info.st_size)));
        TRY(copy_file(path, private_home_, below, info));
      }
    }
    return {};
  }

 private:
  static constexpr int kMostDepth = 64;
  static constexpr size_t kMostFiles = 50'000, kMostBytes = 256 << 20;

  // Whether it is a relative link within the folder: packages refer to their programs that way.
  bool is_own_link(const std::string& path, struct stat& info) const {
    if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return false;
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(path, ignored).string();
    return !target.starts_with('/') && absolute_path(target, parent_path(path)).starts_with(top_ + "/");
  }

  static std::function<Status(int, const std::string&)> link_writer(const std::string& path) {
    return [path](int folder, const std::string& part) -> Status {
      std::error_code ignored;
      const std::string target = std::filesystem::read_symlink(path, ignored).string();
      if (::symlinkat(target.c_str(), folder, part.c_str()) != 0) return cannot("write", part);
      return {};
    };
  }

  Status count(size_t bytes) {
    bytes_ += bytes;
    return ++files_ > kMostFiles || bytes_ > kMostBytes ? too_much() : Status();
  }
  Status too_much() const {
    return fail(ErrorKind::kInput,
                "{} is copied into the sandbox's home before each turn, and is too large for that: more than {} or {} "
                "files; move what the agent does not need out of it",
                top_, human_bytes(kMostBytes), kMostFiles);
  }

  const std::string home_, private_home_, top_;
  size_t files_ = 0, bytes_ = 0;
};

}  // namespace

Status make_private_home(const std::string& folder) {
  TRY(make_directories(folder));
  if (::chmod(folder.c_str(), 0700) != 0) return cannot("protect", folder);
  return {};
}

std::string without_slash(std::string_view name) {
  return std::string(name.ends_with('/') ? name.substr(0, name.size() - 1) : name);
}

Status copy_to_private_home(const std::string& home, const std::string& private_home, const std::string& name) {
  const std::string source = join_path(home, without_slash(name));
  struct stat original{};
  if (::stat(source.c_str(), &original) != 0) return {};
  if (name.ends_with('/')) {
    if (!S_ISDIR(original.st_mode)) return {};
    TRY(open_folder_below(private_home, join_path(without_slash(name), "x")));  // creates the folder even if empty
    return FolderCopy(home, private_home, without_slash(name)).copy(without_slash(name));
  }
  if (!S_ISREG(original.st_mode)) return {};
  if (static_cast<size_t>(original.st_size) > kMaxCopied)
    return fail(ErrorKind::kInput, "{} is too large for a credentials file", source);
  return copy_file(source, private_home, name, original);
}

}  // namespace ralph
