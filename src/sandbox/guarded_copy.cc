#include "sandbox/guarded_copy.h"

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "sandbox/settle.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;

// For a link, its target path is the content: following it would let a program choose what is saved.
std::string text_at(const std::string& path, const struct stat& info) {
  if (!S_ISLNK(info.st_mode)) return S_ISREG(info.st_mode) ? read_file(path).value_or("") : "";
  std::error_code ignored;
  return fs::read_symlink(path, ignored).string();
}

}  // namespace

GuardedCopy::Files GuardedCopy::read(const std::vector<std::string>& paths) {
  Files files;
  const auto add = [&](const std::string& path) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return;
    files[path] = {text_at(path, info), info.st_mode};
  };
  for (const std::string& path : paths) {
    add(path);
    std::error_code error;
    if (!is_real_folder(path)) continue;
    for (auto at = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
         !error && at != fs::recursive_directory_iterator(); at.increment(error))
      add(at->path().string());
  }
  return files;
}

GuardedCopy GuardedCopy::of(const SandboxPlan& plan) {
  GuardedCopy copy;
  copy.project_ = plan.folder;
  const std::string own = join_path(plan.folder, ".ralph");
  for (const Mount& mount : plan.mounts) {
    if (mount.kind == MountKind::kReadOnly && mount.at != own && mount.at.starts_with(plan.folder + "/"))
      copy.paths_.push_back(mount.at);
  }
  for (const char* name : {"settings.json", "settings.local.json"}) copy.paths_.push_back(join_path(own, name));
  copy.paths_.insert(copy.paths_.end(), plan.forbidden.begin(), plan.forbidden.end());
  copy.files_ = read(copy.paths_);
  return copy;
}

Result<std::vector<std::string>> GuardedCopy::put_back(std::string_view time) const {
  std::vector<std::string> lines;
  const auto take = [&](const std::string& path) { return take_away(project_, path, time); };
  for (const std::string& path : paths_) {
    const std::string wrong = first_replaced_parent(project_, path);
    if (wrong.empty()) continue;
    TRY_VALUE(const std::string to, take(wrong));
    lines.push_back(fmt::format("{} was replaced inside the sandbox; what took its place is now {}", wrong, to));
  }
  const Files now = read(paths_);
  for (const auto& [path, file] : now) {
    const auto before = files_.find(path);
    if (before != files_.end() && before->second == file) continue;
    TRY_VALUE(const std::string to, take(path));
    lines.push_back(fmt::format("{} {} inside the sandbox, which is not allowed; {} is now {}", path,
                                before == files_.end() ? "appeared" : "was changed",
                                before == files_.end() ? "it" : "the changed file", to));
  }
  for (const auto& [path, file] : files_) {
    const auto after = now.find(path);
    if (after != now.end() && after->second == file) continue;
    if (after == now.end()) lines.push_back(fmt::format("{} was removed inside the sandbox, and is put back", path));
    TRY(make_directories(parent_path(path)));
    if (S_ISLNK(file.mode)) {
      if (::symlink(file.content.c_str(), path.c_str()) != 0)
        return fail(ErrorKind::kIo, "cannot restore {}: {}", path, errno_text(errno));
    } else {
      TRY(replace_file(path, file.content, file.mode & 07777));
    }
  }
  return lines;
}

}  // namespace ralph
