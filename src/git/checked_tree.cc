#include "git/checked_tree.h"

#include <set>
#include <sys/stat.h>

#include "base/text.h"
#include "git/hidden_files.h"
#include "os/files.h"

namespace ralph {
namespace {

// Size, times and inode show whether a file was written; ctime, unlike the other times, can't be set back.
std::string stamp_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return "gone";
  return fmt::format("{} {} {:o} {}.{} {}.{}", info.st_ino, info.st_size, info.st_mode, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

}  // namespace

Result<std::optional<std::string>> CheckedTree::ask(const std::vector<std::string>& words) {
  TRY_VALUE(GitEnd end, git_(words));
  if (end.code != 0 || end.cut) return std::optional<std::string>();
  return std::optional(std::move(end.output));
}

Status CheckedTree::remember() {
  seen_.reset();
  TRY_VALUE(const auto base, ask({"rev-parse", "-q", "--verify", "HEAD"}));
  TRY_VALUE(const auto top, ask({"rev-parse", "--show-toplevel"}));
  if (!base || !top) return {};
  base_ = trim(*base);
  top_ = top->substr(0, top->find_last_not_of('\n') + 1);
  TRY_VALUE(seen_, look());
  return {};
}

Result<std::optional<bool>> CheckedTree::changed() {
  if (!seen_) return std::optional<bool>();
  TRY_VALUE(const auto now, look());
  if (!now) return std::optional<bool>();
  return std::optional(*now != *seen_);
}

// Everything that differs from one commit, tracked or not: a new file counts the same once committed. Files that git is
// told to overlook count as possibly different.
Result<std::optional<std::string>> CheckedTree::look() {
  TRY_VALUE(const auto differing,
            ask({"-c", "diff.relative=false", "diff", "--name-only", "-z", "--no-renames", base_, "--"}));
  TRY_VALUE(const auto others, ask({"-C", top_, "ls-files", "-z", "--others", "--exclude-standard"}));
  if (!differing || !others) return std::optional<std::string>();
  std::set<std::string> paths;
  for (const std::string* names : {&*differing, &*others}) {
    for (const std::string& name : split(*names, '\0')) {
      const std::string path = join_path(top_, name);
      if (!name.empty() && !path.starts_with(left_out_)) paths.insert(path);
    }
  }
  TRY_VALUE(const std::vector<HiddenFile> hidden, hidden_files(git_));
  for (const HiddenFile& file : hidden) {
    const std::string path = join_path(top_, file.path);
    if (path_exists(path) && !path.starts_with(left_out_)) paths.insert(path);
  }
  std::string text;
  for (const std::string& path : paths) text += fmt::format("{} {}\n", path, stamp_of(path));
  return std::optional(std::move(text));
}

}  // namespace ralph
