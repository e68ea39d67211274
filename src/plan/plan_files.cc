#include "plan/plan_files.h"

#include <cerrno>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>

namespace ralph {
namespace {

constexpr off_t kLargest = 64 * 1024 * 1024;

std::optional<struct stat> look_at(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
  return info;
}

}  // namespace

std::string PlanFiles::shown(const std::string& path) const {
  const std::string below = path_below(path, project);
  return below.empty() ? path : below;
}

std::optional<std::string> read_plain_file(const std::string& path) {
  auto text = require_plain_file(path, "");
  if (!text) return std::nullopt;
  return *std::move(text);
}

Result<std::string> require_plain_file(const std::string& path, std::string_view advice) {
  const auto info = look_at(path);
  if (!info && errno == ENOENT) return fail(ErrorKind::kInput, "{} is missing; {}", path, advice);
  if (!info) return fail(ErrorKind::kInput, "cannot read {}: {}", path, errno_text(errno));
  if (S_ISLNK(info->st_mode))
    return fail(ErrorKind::kInput,
                "{} is a symbolic link; ralph does not follow links where agents write: put the file itself there",
                path);
  if (!S_ISREG(info->st_mode)) return fail(ErrorKind::kInput, "{} is not a plain file", path);
  if (info->st_size > kLargest)
    return fail(ErrorKind::kInput, "{} is larger than 64 MB; that is no plan any more", path);
  return read_file(path);
}

Status check_plan_folder(const PlanFiles& files) {
  const auto info = look_at(files.ralph_dir);
  if (!info) {
    return fail(ErrorKind::kInput, "there is no plan: {} is missing; run 'ralph plan init' to make one",
                files.ralph_dir);
  }
  if (S_ISLNK(info->st_mode))
    return fail(ErrorKind::kInput,
                "{} is a symbolic link; ralph does not follow links where agents write: name the folder itself with "
                "--ralph-dir",
                files.ralph_dir);
  if (!S_ISDIR(info->st_mode)) return fail(ErrorKind::kInput, "{} is not a folder", files.ralph_dir);
  return {};
}

std::string_view in_place_of_plan_folder(const PlanFiles& files) {
  const auto info = look_at(files.ralph_dir);
  if (!info || S_ISDIR(info->st_mode)) return {};
  return S_ISLNK(info->st_mode) ? "a symbolic link" : "a file";
}

std::string unused_path(const std::string& path) {
  std::string unused = path;
  for (int number = 2; look_at(unused); ++number) unused = fmt::format("{}-{}", path, number);
  return unused;
}

Status restore_plan_folder(const PlanFiles& files) {
  const auto info = look_at(files.ralph_dir);
  if (info && S_ISDIR(info->st_mode)) {
    // Ignore failure: a later write reports it.
    if ((info->st_mode & S_IRWXU) != S_IRWXU)
      static_cast<void>(::chmod(files.ralph_dir.c_str(), (info->st_mode & 07777) | S_IRWXU));
    return {};
  }
  if (info) {
    const std::string aside = unused_path(files.ralph_dir + ".rejected-file");
    if (S_ISLNK(info->st_mode)) {
      ::unlink(files.ralph_dir.c_str());
    } else if (::rename(files.ralph_dir.c_str(), aside.c_str()) != 0) {
      return fail(ErrorKind::kIo, "cannot move {} out of the way: {}", files.ralph_dir, errno_text(errno));
    }
  }
  return make_directories(files.ralph_dir);
}

}  // namespace ralph
