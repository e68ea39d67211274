#include "git/plain_git.h"

#include "os/environment.h"
#include "os/run_command.h"

namespace ralph {

Git plain_git(const std::string& folder) {
  return [folder](const std::vector<std::string>& words) -> Result<GitEnd> {
    Launch launch;
    launch.argv = {"git", "--literal-pathspecs"};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    launch.environment = Environment::of_this_process();
    launch.environment.set("LC_ALL", "C");  // its errors are told apart by their words
    launch.folder = folder;
    TRY_VALUE(CommandAnswer answer, ask_command(std::move(launch), Milliseconds(60000), kGitOutput));
    return GitEnd{answer.exit_code, std::move(answer.output), std::move(answer.errors), answer.cut};
  };
}

}  // namespace ralph
