#include "hooks/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

namespace ralph {
namespace {

constexpr std::string_view kConfig = ".config/";  // replaced by XDG_CONFIG_HOME

bool is_link(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

std::string user_folder(const Host& host, const Environment& environment) {
  const std::string_view folder = host.home_folder.empty() ? host.folder : host.home_folder;
  const std::string moved = environment.get(std::string(host.folder_variable)).value_or("");
  if (!moved.empty() && !host.variable_is_parent) return moved;
  // ".config/opencode/plugin" below XDG_CONFIG_HOME is "opencode/plugin"; ".gemini" below GEMINI_CLI_HOME is ".gemini".
  if (!moved.empty()) return join_path(moved, folder.substr(folder.starts_with(kConfig) ? kConfig.size() : 0));
  const std::string home = environment.get("HOME").value_or("");
  return home.empty() ? "" : join_path(home, folder);
}

// The path of the file itself, or the target of its symbolic link.
Result<std::string> target_of(const HookFile& file) {
  if (!is_link(file.path)) return file.path;
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(file.path.c_str(), nullptr), &std::free);
  if (!real)
    return fail(ErrorKind::kInput, "{} is a symbolic link that leads nowhere: {}", file.path, errno_text(errno));
  return std::string(real.get());
}

// For a file in a project: its path and those of the host's folders that contain it. Empty for a user's file.
std::vector<std::string> paths_in_project(const HookFile& file) {
  std::vector<std::string> paths;
  if (file.user) return paths;
  const auto folders = 1 + std::count(file.host->folder.begin(), file.host->folder.end(), '/');
  paths.push_back(file.path);
  for (std::ptrdiff_t i = 0; i < folders; ++i) paths.push_back(parent_path(paths.back()));
  return paths;
}

std::string backup_prefix(const HookFile& file) {
  return base_name(file.path) + ".ralph-backup-";
}

}  // namespace

bool needs_trust(const HookFile& file) {
  return !file.host->trust.empty() && !(file.user && file.host->trust_is_for_projects);
}

Result<HookFile> hook_file(const Host& host, bool user, const Environment& environment, const std::string& project) {
  HookFile file{&host, user, user ? user_folder(host, environment) : join_path(project, host.folder), {}, {}};
  if (file.folder.empty()) return fail(ErrorKind::kInput, "HOME is not set, so the user's settings can't be found");
  file.folder = absolute_path(file.folder, project);
  file.path = join_path(file.folder, host.file);
  file.shown = user ? file.path : join_path(host.folder, host.file);
  return file;
}

Result<std::optional<std::string>> read_to_change(const HookFile& file) {
  for (const std::string& path : paths_in_project(file)) {
    if (is_link(path))
      return fail(
          ErrorKind::kInput,
          "{} is a symbolic link; in a project ralph does not write through one, because an agent could have put "
          "it there. Replace it with its target",
          path);
  }
  if (!is_link(file.path) && !file_exists(file.path)) {
    if (file_exists(file.folder) && !is_directory(file.folder))
      return fail(ErrorKind::kInput, "{} is not a folder", file.folder);
    return std::optional<std::string>();
  }
  TRY_VALUE(const std::string target, target_of(file));
  if (!is_regular_file(target)) return fail(ErrorKind::kInput, "{} is not a file", target);
  TRY_VALUE(std::string text, read_file(target));
  return std::optional(std::move(text));
}

Result<Fd> lock_folder(const std::string& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(ErrorKind::kIo, "cannot open {}: {}", folder, errno_text(errno));
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail(ErrorKind::kIo, "cannot lock {}: {}", folder, errno_text(errno));
  }
  return fd;
}

Result<std::string> back_up(const HookFile& file, std::string_view text, WallTime now) {
  const std::string first = join_path(file.folder, backup_prefix(file) + to_compact_utc(now));
  std::string path = first;
  for (int n = 2; file_exists(path); ++n) path = fmt::format("{}-{}", first, n);
  struct stat info{};
  const unsigned mode = ::stat(file.path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0600;
  TRY(write_file_atomically(path, text, mode));
  return path;
}

std::vector<std::string> backups_of(const HookFile& file) {
  std::vector<std::string> found;
  for (const std::string& name : names_in(file.folder)) {
    const std::string path = join_path(file.folder, name);
    if (name.starts_with(backup_prefix(file)) && is_real_file(path)) found.push_back(path);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

Status write_changed(const HookFile& file, std::string_view text) {
  TRY_VALUE(const std::string target, target_of(file));
  return write_file_atomically(target, text, file.user ? 0600 : 0644);
}

Result<std::string> program_for_hooks(const Environment& environment) {
  TRY_VALUE(const std::string self, path_of_this_program());
  if (!is_executable_file(self)) return fail(ErrorKind::kNotFound, "{} no longer exists; install ralph first", self);
  const auto on_path = resolve_program("ralph", environment, "/");
  std::string program = on_path && is_same_file(*on_path, self) ? "ralph" : self;
  if (find_invalid_utf8(program) != std::string::npos)
    return fail(ErrorKind::kInput, "ralph's path is not UTF-8 and can't be put in JSON: {}", to_valid_utf8(program));
  return program;
}

}  // namespace ralph
