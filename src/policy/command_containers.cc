#include "policy/command_containers.h"

#include <array>

#include "base/text.h"

namespace ralph {
namespace {

// `docker compose -f x.yml exec -T web rails c`: the verbs before the container's name, and the options with a value.
struct ContainerRunner {
  std::string_view names, verbs;
  std::string_view valued{}, valued_long{};
  size_t own_words = 1;              // the name of the container or pod
  std::string_view script_option{};  // the command is this option's value: `fly ssh console -C 'rails c'`
};
constexpr std::string_view kDockerLetters = "aceEfhlmnpuvwH",
                           kDockerNames =
                               "add-host cap-add cap-drop container context cpus device dns entrypoint env env-file "
                               "expose file gpus host hostname index label link memory mount name namespace network "
                               "platform profile project-directory project-name publish pull pod-running-timeout "
                               "restart security-opt shm-size tmpfs ulimit user volume volumes-from workdir";
constexpr std::array kContainerRunners = {
    ContainerRunner{"docker podman nerdctl docker-compose podman-compose kubectl oc", "exec run", kDockerLetters,
                    kDockerNames},
    ContainerRunner{"heroku", "run run:detached", "ares", "app size env remote", 0},
    ContainerRunner{"ddev lando", "exec", "ds", "service dir", 0},
    ContainerRunner{"fly flyctl", "console", "acgrsu", "app config machine region select user", 0, "-C --command"},
    ContainerRunner{"vagrant", "ssh", "", "", 1, "-c --command"},
};

void look_into_place(const ContainerRunner& runner, Words words, InnerCommands& inner) {
  if (!runner.script_option.empty()) {
    const size_t blank = runner.script_option.find(' ');
    if (auto script =
            option_value(words, runner.script_option.substr(0, blank), runner.script_option.substr(blank + 1)))
      inner.scripts.push_back(*std::move(script));
    return;
  }
  size_t at = 1;
  while (at < words.size() && !is_listed(runner.verbs, words[at].text)) ++at;
  at = skip_options(words, at + 1, runner.valued, runner.valued_long) + runner.own_words;
  at = skip_options(words, std::min(at, words.size()), runner.valued, runner.valued_long);
  if (at + 1 == words.size() && contains(words[at].text, ' ')) {
    inner.scripts.push_back(words[at]);
  } else if (at < words.size()) {
    inner.commands.push_back(copy(words.subspan(at)));
  }
}

}  // namespace

bool is_container_runner(std::string_view program) {
  for (const ContainerRunner& runner : kContainerRunners) {
    if (is_listed(runner.names, program)) return true;
  }
  return false;
}

void look_into_container(std::string_view program, Words words, InnerCommands& inner) {
  for (const ContainerRunner& runner : kContainerRunners) {
    if (!is_listed(runner.names, program)) continue;
    const auto is_verb = [&](const ShellWord& word) { return is_listed(runner.verbs, word.text); };
    if (words.size() > 2 && std::ranges::any_of(words.subspan(1), is_verb)) look_into_place(runner, words, inner);
  }
}

}  // namespace ralph
