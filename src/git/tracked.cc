#include "git/tracked.h"

#include "base/text.h"
#include "git/git.h"
#include "os/files.h"
#include "os/run_command.h"

namespace ralph {
namespace {

constexpr Milliseconds kPatienceWithGit{4000};  // hosts give a hook ten seconds
constexpr size_t kMostAnswer = 4096;

}  // namespace

std::string index_file(const std::string& folder) {
  for (std::string at = folder; at.starts_with('/'); at = parent_path(at)) {
    const std::string git = join_path(at, ".git");
    if (is_there(git)) {
      const auto pointer = read_file(git);
      if (!pointer || !pointer->starts_with("gitdir:")) return join_path(git, "index");
      return join_path(absolute_path(trim(std::string_view(*pointer).substr(7)), at), "index");
    }
    if (at == "/") break;
  }
  return {};
}

bool is_tracked(const std::string& folder, const std::string& file, const Environment& environment) {
  GitCommand command = own_question("git", {"ls-files", "--error-unmatch", "--", file}, "");
  Launch launch;
  launch.argv = std::move(command.argv);
  launch.environment = environment;
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) launch.environment.unset(name);
  for (auto& [name, value] : command.environment) launch.environment.set(name, value);
  launch.folder = folder;
  const auto answer = ask_command(std::move(launch), kPatienceWithGit, kMostAnswer);
  return answer && answer->exit_code == 0;
}

}  // namespace ralph
