#include "git/loose_head.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "git/git.h"
#include "git/repository.h"
#include "os/files.h"

namespace ralph {
namespace {

std::string text_at(const std::string& path) {
  return is_real_file(path) ? std::string(trim(read_file(path).value_or(""))) : "";
}

bool is_object_name(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Git refuses to open a repository of another user.
bool is_own_folder(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

}  // namespace

std::optional<LooseHead> read_loose_head(const std::string& git_dir, const std::string& common_dir) {
  constexpr std::string_view kRef = "ref: refs/heads/";
  LooseHead head;
  head.files.push_back(join_path(git_dir, "HEAD"));
  const std::string name = text_at(head.files.back());
  if (!name.starts_with(kRef) || contains(name, "..")) return std::nullopt;
  head.files.push_back(join_path(common_dir, name.substr(std::string_view("ref: ").size())));
  head.commit = text_at(head.files.back());
  if (!is_object_name(head.commit)) return std::nullopt;
  const std::string objects = join_path(common_dir, "objects");
  head.files.push_back(join_path(objects, head.commit.substr(0, 2) + "/" + head.commit.substr(2)));
  if (!is_real_file(head.files.back())) return std::nullopt;
  return head;
}

std::string checked_out_commit(const std::string& top) {
  const std::string git_dir = join_path(top, ".git");
  if (is_own_folder(git_dir) && !path_exists(join_path(git_dir, "commondir"))) {
    if (const auto head = read_loose_head(git_dir, git_dir)) return head->commit;
  }
  return Repository(plain_git(top), top).head().value_or("");
}

}  // namespace ralph
