#include "sandbox/private_home.h"

#include <cerrno>
#include <fcntl.h>
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

// The folder of `name` below `top`, made as far as it is missing; a symlink on the way is an error.
Result<Fd> open_folder_of(const std::string& top, const std::string& name) {
  Fd folder(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return cannot("open", top);
  const std::vector<std::string> parts = split(name, '/');
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (::mkdirat(folder.get(), parts[i].c_str(), 0700) != 0 && errno != EEXIST) return cannot("create", parts[i]);
    Fd next(::openat(folder.get(), parts[i].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!next) return cannot("open", join_path(top, name));
    folder = std::move(next);
  }
  return folder;
}

bool is_newer(const struct stat& a, const struct stat& b) {
  return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
                                              : a.st_mtim.tv_nsec > b.st_mtim.tv_nsec;
}

}  // namespace

Status make_private_home(const std::string& folder) {
  TRY(make_directories(folder));
  if (::chmod(folder.c_str(), 0700) != 0) return cannot("protect", folder);
  return {};
}

Result<bool> copy_to_private_home(const std::string& home, const std::string& private_home, const std::string& name) {
  const std::string source = join_path(home, name);
  struct stat original{}, copy{};
  if (::stat(source.c_str(), &original) != 0 || !S_ISREG(original.st_mode)) return false;
  if (static_cast<size_t>(original.st_size) > kMaxCopied)
    return fail(ErrorKind::kInput, "{} is too large to be a file of credentials", source);
  TRY_VALUE(const Fd folder, open_folder_of(private_home, name));
  const std::string last = base_name(name), part = last + ".ralph-part";
  const bool there = ::fstatat(folder.get(), last.c_str(), &copy, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(copy.st_mode);
  if (there && !is_newer(original, copy)) return false;
  TRY_VALUE(const std::string text, read_file(source));
  ::unlinkat(folder.get(), part.c_str(), 0);
  const Fd file(::openat(folder.get(), part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return cannot("write", join_path(private_home, name));
  TRY(write_all(file.get(), text, join_path(private_home, name)));
  const struct timespec times[2] = {original.st_atim, original.st_mtim};
  ::futimens(file.get(), times);
  if (::renameat(folder.get(), part.c_str(), folder.get(), last.c_str()) != 0)
    return cannot("write", join_path(private_home, name));
  return true;
}

}  // namespace ralph
