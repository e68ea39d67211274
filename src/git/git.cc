#include "git/git.h"

#include "os/environment.h"
#include "os/files.h"
#include "os/run_command.h"

namespace ralph {

GitCommand own_question(const std::string& program, const std::vector<std::string>& words,
                        const std::string& work_tree) {
  GitCommand command{{program, "--literal-pathspecs", "--no-replace-objects"}, {}};
  for (const char* setting :
       {"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.trustctime=true", "core.checkStat=default"})
    command.argv.insert(command.argv.end(), {"-c", setting});
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  if (!work_tree.empty()) command.environment.emplace_back("GIT_WORK_TREE", work_tree);
  return command;
}

bool is_git(const std::string& command) {
  return base_name(command) == "git";
}

Git plain_git(const std::string& folder) {
  return [folder](const std::vector<std::string>& words) -> Result<GitEnd> {
    Launch launch;
    // A clone's own configuration must not make git run programs where ralph only looks.
    launch.argv = {"git", "--literal-pathspecs", "-c", "core.fsmonitor=false"};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    launch.environment = Environment::of_this_process();
    launch.environment.set("LC_ALL", "C");  // errors are recognised by their wording
    launch.folder = folder;
    TRY_VALUE(CommandResult answer, ask_command(std::move(launch), Milliseconds(60000), kGitOutput));
    return GitEnd{answer.exit_code, std::move(answer.output), std::move(answer.errors), answer.cut};
  };
}

}  // namespace ralph
