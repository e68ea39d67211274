#include "policy/command_wrappers.h"

#include <array>

#include "base/text.h"

namespace ralph {
namespace {

// Programs that run the rest of their words: the options that take a value, and the number of their own words.
struct Wrapper {
  std::string_view names;          // separated by blanks
  std::string_view valued{};       // letters
  std::string_view valued_long{};  // separated by blanks
  int own_words = 0;
  bool assignments = false;  // NAME=value may come before the command
};

constexpr std::array kWrappers = {
    Wrapper{"nohup setsid unbuffer command builtin busybox toybox catchsegv bunx coproc noglob nocorrect"},
    Wrapper{"sudo", "ugphCrtTUDRc",
            "user group prompt host chdir chroot close-from role type other-user command-timeout", 0, true},
    Wrapper{"doas", "uC"},
    Wrapper{"pkexec", "", "user"},
    Wrapper{"env", "uCS", "unset chdir split-string", 0, true},
    Wrapper{"time", "fo", "format output"},
    Wrapper{"timeout gtimeout", "ks", "kill-after signal", 1},
    Wrapper{"nice", "n", "adjustment"},
    Wrapper{"ionice", "cnpPu", "class classdata"},
    Wrapper{"chrt", "TPD", "", 1},
    Wrapper{"taskset setarch", "", "", 1},
    Wrapper{"stdbuf", "ioe", "input output error"},
    Wrapper{"exec", "a"},
    Wrapper{"strace", "eopsuEPIOSXab"},
    Wrapper{"ltrace", "eopsulnaF"},
    Wrapper{"chroot", "", "userspec groups", 1},
    Wrapper{"unshare", "RwSG", "root wd setuid setgid"},
    Wrapper{"nsenter", "tSG", "target"},
    Wrapper{"systemd-run", "pHMEu", "unit property description uid gid"},
    Wrapper{"systemd-inhibit", "", "what who why mode"},
    Wrapper{"faketime", "f", "", 1},
    Wrapper{"fakeroot", "lisb", "lib faked"},
    Wrapper{"xvfb-run", "npsef", "server-num server-args"},
    Wrapper{"caffeinate", "tw"},
    Wrapper{"npx", "pc", "package call"},
    Wrapper{"cross-env dotenv env-cmd", "ef", "file", 0, true},
    Wrapper{"direnv", "", "", 2},
};

// Runners with a subcommand that runs something: `uv run rm x`.
struct Runner {
  std::string_view names, verbs, valued;
  bool is_program = false;  // the verb is itself the program that is run
};
constexpr std::string_view kDatabaseTools = "prisma sequelize sequelize-cli typeorm knex drizzle-kit mikro-orm rimraf";
constexpr std::array kRunners = {
    Runner{"uv", "run", "p"}, Runner{"doppler railway dotenvx op infisical", "run", "cefps"},
    Runner{"symfony", "console", "", true}, Runner{"poetry pipenv pdm rye hatch", "run", ""},
    Runner{"conda", "run", "np"}, Runner{"bundle pnpm yarn mise asdf rbenv pyenv nodenv", "exec dlx", ""},
    Runner{"npm", "exec x", "cpw"}, Runner{"perf", "stat", "eor"}, Runner{"perf", "record", "eoF"},
    Runner{"pnpm yarn bun", kDatabaseTools, "", true},
    // A script named after a tool passes its words on to it.
    Runner{"npm pnpm yarn bun", "run run-script", ""}};

void look_into(const Wrapper& wrapper, std::string_view program, Words words, InnerCommands& inner) {
  size_t at = 1;
  while (at < words.size()) {
    const std::string& word = words[at].text;
    if (word == "--") {
      ++at;
      break;
    }
    if (wrapper.assignments && is_assignment(word)) {
      inner.assignments.push_back(word);
      ++at;
      continue;
    }
    if (!is_option(word)) break;
    const size_t length = option_length(word, wrapper.valued, wrapper.valued_long);
    if (program == "env" && (word.starts_with("-S") || word.starts_with("--split-string"))) {
      const size_t value = word.find('=');
      inner.scripts.push_back(length == 2 && at + 1 < words.size() ? words[at + 1]
                              : word.starts_with("-S")             ? ShellWord{word.substr(2), {}}
                                                                   : ShellWord{word.substr(value + 1), {}});
    }
    if (program == "env" && length == 2 && (word == "-C" || word == "--chdir") && at + 1 < words.size())
      inner.folder = words[at + 1].text;
    if (program == "npx" && length == 2 && (word == "-c" || word == "--call") && at + 1 < words.size())
      inner.scripts.push_back(words[at + 1]);
    at += length;
  }
  while (wrapper.assignments && at < words.size() && is_assignment(words[at].text))
    inner.assignments.push_back(words[at++].text);
  at += static_cast<size_t>(wrapper.own_words);
  if (at < words.size()) inner.commands.push_back(copy(words.subspan(at)));
}

}  // namespace

bool look_into_wrapper(std::string_view program, Words words, InnerCommands& inner) {
  for (const Wrapper& wrapper : kWrappers) {
    if (!is_listed(wrapper.names, program)) continue;
    look_into(wrapper, program, words, inner);
    return true;
  }
  for (const Runner& runner : kRunners) {
    if (!is_listed(runner.names, program) || words.size() < 2 || !is_listed(runner.verbs, words[1].text)) continue;
    if (runner.is_program) {
      inner.commands.push_back(copy(words.subspan(1)));
      return true;
    }
    const size_t at = skip_options(words, 2, runner.valued, "with python group extra package name prefix call");
    if (is_listed("run run-script", words[1].text) && is_listed("npm pnpm yarn bun", program)) {
      if (at >= words.size() || !is_listed(kDatabaseTools, words[at].text)) return false;
      std::vector<ShellWord> tool = copy(words.subspan(at));
      std::erase_if(tool, [](const ShellWord& word) { return word.text == "--"; });
      inner.commands.push_back(std::move(tool));
      return true;
    }
    if (auto script = program == "npm" ? option_value(words, "-c", "--call") : std::nullopt)
      inner.scripts.push_back(*std::move(script));
    if (at + 1 == words.size() && contains(words[at].text, ' ')) {
      inner.scripts.push_back(words[at]);  // a single word for a shell: yarn exec 'rm x', pnpm exec -c 'rm x'
    } else if (at < words.size()) {
      inner.commands.push_back(copy(words.subspan(at)));
    }
    return true;
  }
  return false;
}

}  // namespace ralph
