#include "git/repository_mark.h"

#include <fcntl.h>
#include <optional>
#include <sys/stat.h>

#include "base/text.h"
#include "git/git.h"
#include "git/loose_head.h"
#include "os/files.h"

namespace ralph {
namespace {

// A folder that was deleted and recreated may have the same inode, but not the same birth time.
std::string identity_of(const std::string& folder) {
  struct statx info{};
  if (::statx(AT_FDCWD, folder.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &info) != 0) return "";
  const bool birth = (info.stx_mask & STATX_BTIME) != 0;
  return fmt::format("{}:{} {} {}.{}", info.stx_dev_major, info.stx_dev_minor, info.stx_ino,
                     birth ? info.stx_btime.tv_sec : 0, birth ? info.stx_btime.tv_nsec : 0);
}

// Names the repository explicitly: otherwise git would search the parent folders for one.
Result<GitEnd> ask_git(const RepositoryMark& mark, std::vector<std::string> words) {
  words.insert(words.begin(), "--git-dir=" + mark.git_dir);
  return plain_git(mark.top)(words);
}

// nullopt: git can't be run.
std::optional<bool> has_commit(const RepositoryMark& mark, const std::string& name) {
  const auto found = ask_git(mark, {"cat-file", "-e", name + "^{commit}"});
  return found ? std::optional(found->code == 0) : std::nullopt;
}

std::string commit_at_head(const RepositoryMark& mark) {
  if (const auto loose = read_loose_head(mark.git_dir, mark.common_dir)) return loose->commit;
  const auto head = ask_git(mark, {"rev-parse", "--verify", "--quiet", "HEAD^{commit}"});
  return head && head->code == 0 ? std::string(trim(head->output)) : "";
}

}  // namespace

RepositoryMark mark_repository(RepositoryMark places) {
  places.folder = identity_of(places.common_dir);
  places.commit = commit_at_head(places);
  return places;
}

std::string repository_fault(const RepositoryMark& mark) {
  const std::string now = identity_of(mark.common_dir);
  if (now.empty() || (mark.entry != mark.common_dir && !path_exists(mark.entry)) ||
      !path_exists(join_path(mark.git_dir, "HEAD")) || !path_exists(join_path(mark.common_dir, "objects")))
    return "deleted";
  if (now == mark.folder || mark.commit.empty()) return "";
  // Some file systems give a folder another inode number when it is first written to.
  return has_commit(mark, mark.commit) == false ? "recreated" : "";
}

std::string head_fault(const RepositoryMark& mark) {
  if (mark.commit.empty() || has_commit(mark, "HEAD") != false) return "";
  return has_commit(mark, mark.commit) == false ? "damaged" : std::string(kHeadless);
}

bool HeadState::still_holds() const {
  for (const auto& [path, before] : files_) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return false;
    if (info.st_dev != before.st_dev || info.st_ino != before.st_ino || info.st_size != before.st_size ||
        info.st_ctim.tv_sec != before.st_ctim.tv_sec || info.st_ctim.tv_nsec != before.st_ctim.tv_nsec)
      return false;
  }
  return !files_.empty();
}

HeadState head_state(const RepositoryMark& mark) {
  const auto head = read_loose_head(mark.git_dir, mark.common_dir);
  if (!head) return {};
  std::vector<std::string> files = head->files;
  for (const char* name : {"refs", "config", "objects"}) files.push_back(join_path(mark.common_dir, name));
  HeadState state;
  for (std::string& path : files) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return {};
    state.files_.emplace_back(std::move(path), info);
  }
  // What was written between reading and lstat would not be noticed later.
  const auto again = read_loose_head(mark.git_dir, mark.common_dir);
  return again && again->commit == head->commit ? state : HeadState();
}

}  // namespace ralph
