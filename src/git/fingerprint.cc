#include "git/fingerprint.h"

#include <algorithm>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/text.h"
#include "git/git.h"
#include "git/hidden_files.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr Milliseconds kGitPatience{4000};  // hosts give a hook ten seconds

}  // namespace

std::string tree_fingerprint(const std::string& folder, const Environment& environment) {
  std::string top = folder;  // git's paths are relative to it
  while (!path_exists(join_path(top, ".git"))) {
    if (!top.starts_with('/') || top == "/") return {};
    top = parent_path(top);
  }
  const Git git = plain_git(GitPlace{folder}, environment, kGitPatience);
  const auto status = git({"status", "--porcelain=v2", "--branch", "-z", "-uall"});
  if (!status || status->code != 0) return {};
  std::string text = status->output;
  // A changed file may change further: size and time show that.
  for (const std::string& change : split(status->output, '\0')) {
    // "1" or "2", then seven or eight fields and the path; "?" and the path.
    size_t at = change.find(' ');
    for (int fields = change.starts_with('1') ? 7 : change.starts_with('2') ? 8 : 0; fields > 0; --fields)
      at = change.find(' ', std::min(at, change.size() - 1) + 1);
    struct stat info{};
    if (at >= change.size() || ::lstat(join_path(top, change.substr(at + 1)).c_str(), &info) != 0) continue;
    text += fmt::format("{} {}.{}\n", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  // git reports nothing about a file that it is told to overlook.
  const auto hidden = hidden_files(git);
  if (!hidden) return {};
  for (const HiddenFile& file : *hidden) {
    struct stat info{};
    if (::lstat(join_path(top, file.path).c_str(), &info) != 0) continue;
    text += fmt::format("{} {} {}.{}\n", file.path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return fmt::format("{:016x}", stable_hash(text));
}

}  // namespace ralph
