#include "cli/plain_git.h"

#include "os/environment.h"
#include "os/run_command.h"

namespace ralph::cli {

Git plain_git(const std::string& folder) {
  return [folder](const std::vector<std::string>& words) -> Result<GitEnd> {
    Launch launch;
    launch.argv = {"git", "--literal-pathspecs"};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    launch.environment = Environment::of_this_process();
    launch.folder = folder;
    TRY_VALUE(CommandResult result, run_command(std::move(launch), Milliseconds(60000)));
    return GitEnd{result.exit_code, std::move(result.output)};
  };
}

}  // namespace ralph::cli
