#include "git/new_repository.h"

#include "base/text.h"
#include "git/git.h"

namespace ralph {

GitCommandLines set_author(const std::string& name, const std::string& email) {
  return {{"git", "config", "--global", "user.email", email}, {"git", "config", "--global", "user.name", name}};
}

GitCommandLines new_repository_with_work_tree(const std::string& branch, const std::string& folder) {
  return {{"git", "init", "-q", "-b", "main"},
          {"git", "commit", "-q", "--allow-empty", "-m", "start"},
          {"git", "worktree", "add", "-q", "-b", branch, folder}};
}

GitCommandLines everyday_commands() {
  return {{"git", "status"}, {"git", "commit", "-q", "--allow-empty", "-m", "x"}};
}

Status make_repository(const std::string& folder, const std::string& author, const std::string& email,
                       const std::string& message) {
  const Git git = plain_git(folder);
  const GitCommandLines all = {
      {"init", "-q", "-b", "main"},          {"config", "user.name", author},           {"config", "user.email", email},
      {"config", "commit.gpgsign", "false"}, {"config", "core.hooksPath", "/dev/null"}, {"add", "-A"},
      {"commit", "-q", "-m", message}};
  for (const std::vector<std::string>& words : all) {
    TRY_VALUE(const GitEnd end, git(words));
    if (end.code != 0) return fail(ErrorKind::kIo, "git {} failed in {}: {}", words[0], folder, first_line(end.errors));
  }
  return {};
}

}  // namespace ralph
