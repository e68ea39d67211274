#include "git/tracked.h"

#include "git/config_file.h"
#include "git/git.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr Milliseconds kPatienceWithGit{4000};  // hosts give a hook ten seconds

}  // namespace

std::string index_file(const std::string& folder) {
  const std::string git_dir = repository_folders(folder).git_dir;
  return git_dir.empty() ? "" : join_path(git_dir, "index");
}

bool is_tracked(const std::string& folder, const std::string& file, const Environment& environment) {
  Environment plain = environment;
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) plain.unset(name);
  const auto answer =
      plain_git(GitPlace{folder}, std::move(plain), kPatienceWithGit)({"ls-files", "--error-unmatch", "--", file});
  return answer && answer->code == 0;
}

}  // namespace ralph
