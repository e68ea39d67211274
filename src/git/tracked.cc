#include "git/tracked.h"

#include "base/text.h"
#include "git/git.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr Milliseconds kPatienceWithGit{4000};  // hosts give a hook ten seconds

}  // namespace

std::string index_file(const std::string& folder) {
  for (std::string at = folder; at.starts_with('/'); at = parent_path(at)) {
    const std::string git = join_path(at, ".git");
    if (path_exists(git)) {
      const auto pointer = read_file(git);
      if (!pointer || !pointer->starts_with("gitdir:")) return join_path(git, "index");
      return join_path(absolute_path(trim(std::string_view(*pointer).substr(7)), at), "index");
    }
    if (at == "/") break;
  }
  return {};
}

bool is_tracked(const std::string& folder, const std::string& file, const Environment& environment) {
  Environment plain = environment;
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) plain.unset(name);
  const auto answer =
      plain_git(GitPlace{folder}, std::move(plain), kPatienceWithGit)({"ls-files", "--error-unmatch", "--", file});
  return answer && answer->code == 0;
}

}  // namespace ralph
