#include "policy/command_wrappers.h"

#include <algorithm>
#include <array>

namespace ralph {
namespace {

// A program that runs the rest of its words: its options that take a value, and the number of its own words.
struct Wrapper {
  std::string_view name;
  std::string_view valued{};       // letters
  std::string_view valued_long{};  // separated by blanks
  int own_words = 0;
  bool assignments = false;  // NAME=value may come before the command
};

constexpr std::array kWrappers = {
    Wrapper{"sudo", "ugphCrtTUDRc",
            "user group prompt host chdir chroot close-from role type other-user command-timeout", 0, true},
    Wrapper{"doas", "uC"},
    Wrapper{"pkexec", "", "user"},
    Wrapper{"env", "uCS", "unset chdir split-string", 0, true},
    Wrapper{"nohup"},
    Wrapper{"setsid"},
    Wrapper{"time", "fo", "format output"},
    Wrapper{"timeout", "ks", "kill-after signal", 1},
    Wrapper{"gtimeout", "ks", "kill-after signal", 1},
    Wrapper{"nice", "n", "adjustment"},
    Wrapper{"ionice", "cnpPu", "class classdata"},
    Wrapper{"chrt", "TPD", "", 1},
    Wrapper{"taskset", "", "", 1},
    Wrapper{"stdbuf", "ioe", "input output error"},
    Wrapper{"unbuffer"},
    Wrapper{"command"},
    Wrapper{"builtin"},
    Wrapper{"exec", "a"},
    Wrapper{"busybox"},
    Wrapper{"toybox"},
    Wrapper{"strace", "eopsuEPIOSXab"},
    Wrapper{"ltrace", "eopsulnaF"},
    Wrapper{"chroot", "", "userspec groups", 1},
    Wrapper{"unshare", "RwSG", "root wd setuid setgid"},
    Wrapper{"nsenter", "tSG", "target"},
    Wrapper{"systemd-run", "pHMEu", "unit property description uid gid"},
    Wrapper{"systemd-inhibit", "", "what who why mode"},
    Wrapper{"faketime", "f", "", 1},
    Wrapper{"xvfb-run", "npsef", "server-num server-args"},
    Wrapper{"caffeinate", "tw"},
    Wrapper{"catchsegv"},
    Wrapper{"setarch", "", "", 1},
    Wrapper{"npx", "pc", "package call"},
    Wrapper{"bunx"},
    Wrapper{"direnv", "", "", 2},
    Wrapper{"coproc"},
    Wrapper{"noglob"},
    Wrapper{"nocorrect"},
};

// Runners with a subcommand that runs something: `uv run rm x`.
struct Runner {
  std::string_view name, verb, valued;
};
constexpr std::array kRunners = {
    Runner{"uv", "run", "p"},     Runner{"poetry", "run", ""},   Runner{"pipenv", "run", ""},
    Runner{"pdm", "run", ""},     Runner{"rye", "run", ""},      Runner{"hatch", "run", ""},
    Runner{"conda", "run", "np"}, Runner{"bundle", "exec", ""},  Runner{"npm", "exec", "cpw"},
    Runner{"npm", "x", "cpw"},    Runner{"pnpm", "exec", ""},    Runner{"yarn", "exec", ""},
    Runner{"mise", "exec", ""},   Runner{"perf", "stat", "eor"}, Runner{"perf", "record", "eoF"}};

void look_into(const Wrapper& wrapper, Words words, InnerCommands& inner) {
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
    if (wrapper.name == "env" && (word.starts_with("-S") || word.starts_with("--split-string"))) {
      const size_t value = word.find('=');
      inner.scripts.push_back(length == 2 && at + 1 < words.size() ? words[at + 1]
                              : word.starts_with("-S")             ? ShellWord{word.substr(2), {}}
                                                                   : ShellWord{word.substr(value + 1), {}});
    }
    if (wrapper.name == "env" && length == 2 && (word == "-C" || word == "--chdir") && at + 1 < words.size())
      inner.folder = words[at + 1].text;
    if (wrapper.name == "npx" && length == 2 && (word == "-c" || word == "--call") && at + 1 < words.size())
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
    if (wrapper.name != program) continue;
    look_into(wrapper, words, inner);
    return true;
  }
  for (const Runner& runner : kRunners) {
    if (runner.name != program || words.size() < 2 || words[1].text != runner.verb) continue;
    const size_t at = skip_options(words, 2, runner.valued, "with python group extra package name prefix call");
    if (auto script = runner.name == "npm" ? option_value(words, "-c", "--call") : std::nullopt)
      inner.scripts.push_back(*std::move(script));
    if (at + 1 == words.size() && words[at].text.find(' ') != std::string::npos) {
      inner.scripts.push_back(words[at]);  // one word for a shell: yarn exec 'rm x', pnpm exec -c 'rm x'
    } else if (at < words.size()) {
      inner.commands.push_back(copy(words.subspan(at)));
    }
    return true;
  }
  return false;
}

}  // namespace ralph
