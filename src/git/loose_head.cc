#include "git/loose_head.h"

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "git/dot_git.h"
#include "git/git.h"
#include "git/repository.h"
#include "os/files.h"

namespace ralph {
namespace {

std::string text_at(const std::string& path) {
  return is_real_file(path) ? std::string(trim(read_file(path).value_or(""))) : "";
}

bool is_full_object_name(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// A git hook, for example, runs with the repository named in its environment.
bool environment_names_repository() {
  for (const char* name : {"GIT_DIR", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"}) {
    if (std::getenv(name)) return true;
  }
  return false;
}

}  // namespace

bool is_own_repository(const std::string& top) {
  const std::string git_dir = join_path(top, ".git");
  struct stat info{};
  return ::lstat(git_dir.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         !path_exists(join_path(git_dir, "commondir")) && !environment_names_repository();
}

std::optional<LooseHead> read_loose_head(const std::string& git_dir, const std::string& common_dir) {
  LooseHead head;
  head.files.push_back(join_path(git_dir, "HEAD"));
  const std::string branch = branch_in_head(text_at(head.files.back()));
  if (branch.empty()) return std::nullopt;
  head.files.push_back(join_path(common_dir, branch));
  head.commit = text_at(head.files.back());
  if (!is_full_object_name(head.commit)) return std::nullopt;
  const std::string objects = join_path(common_dir, "objects");
  head.files.push_back(join_path(objects, head.commit.substr(0, 2) + "/" + head.commit.substr(2)));
  if (!is_real_file(head.files.back())) return std::nullopt;
  return head;
}

std::optional<LooseHead> read_loose_head(const std::string& top) {
  const std::string git_dir = join_path(top, ".git");
  return is_own_repository(top) ? read_loose_head(git_dir, git_dir) : std::nullopt;
}

std::optional<std::string> read_branch(const std::string& top) {
  if (!is_own_repository(top)) return std::nullopt;
  const std::string branch = branch_in_head(text_at(join_path(top, ".git/HEAD")));
  return branch.empty() ? std::nullopt : std::optional(branch.substr(std::string_view("refs/heads/").size()));
}

std::string checked_out_commit(const std::string& top) {
  return Repository(plain_git(top), top).head().value_or("");
}

}  // namespace ralph
