#include "policy/command_runners.h"

#include <algorithm>
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

namespace {

// `text` with each `placeholder` replaced, unless that would make it too large.
ShellWord with_item(const ShellWord& word, std::string_view placeholder, const ShellWord& item, InnerCommands& inner) {
  if (placeholder.empty() || !contains(word.text, placeholder)) return word;
  size_t times = 0;
  for (size_t at = word.text.find(placeholder); at != std::string::npos; at = word.text.find(placeholder, at + 1))
    ++times;
  if (!inner.grow(times * item.text.size())) return word;
  ShellWord made{replace_all(word.text, placeholder, item.text), word.sources};
  made.sources.insert(made.sources.end(), item.sources.begin(), item.sources.end());
  return made;
}

// The list that a program reads: the files of a listing, the words or lines of a known text, or an unknown part.
std::vector<ShellWord> items_from(const std::optional<std::string>& input, const std::optional<Listing>& listing,
                                  ShellSpan source, bool by_line, size_t most) {
  std::vector<ShellWord> items;
  if (listing) {
    for (const std::string& path : listing->paths) items.push_back({path, {}});
  }
  if (items.empty() && input) {
    std::string text = *input;
    for (char& c : text) {
      if (c == '\0' || (!by_line && (c == ' ' || c == '\t'))) c = '\n';
    }
    for (const std::string& item : split(text, '\n')) {
      if (!trim(item).empty() && items.size() < most) items.push_back({std::string(trim(item)), {}});
    }
  }
  if (items.empty()) {
    items.push_back({std::string(1, kUnknownPart), {}});
    if (!source.empty()) items.back().sources.push_back(source);
  }
  if (items.size() > most) items.resize(most);
  return items;
}

// Adds the command that `find -exec` or `fd -x` runs, from words[at] on, for the files found. Returns where it ends.
size_t run_for_found(Words words, size_t at, const std::vector<std::string>& found, bool appends,
                     InnerCommands& inner) {
  std::vector<ShellWord> run;
  bool placed = false;
  const auto add_found = [&] {
    placed = true;
    if (!inner.grow(found.size() * sizeof(ShellWord))) return;
    for (const std::string& path : found) run.push_back({path, {}});
  };
  for (; at < words.size() && words[at].text != ";" && words[at].text != "+"; ++at) {
    if (words[at].text == "{}") {
      add_found();
    } else {
      placed |= contains(words[at].text, "{}");
      run.push_back(found.empty() ? words[at] : with_item(words[at], "{}", {found[0], {}}, inner));
    }
  }
  if (appends && !placed) add_found();
  if (!run.empty()) inner.commands.push_back(std::move(run));
  return at;
}

}  // namespace

void look_into_xargs(const ShellCommand& command, const std::optional<std::string>& input,
                     const std::optional<Listing>& listing, InnerCommands& inner) {
  const Words words(command.words);
  std::string placeholder;
  bool from_file = false;
  size_t at = 1;
  while (at < words.size() && is_option(words[at].text)) {
    const std::string& word = words[at].text;
    const size_t length =
        option_length(word, "InPLsdaE", "max-args max-procs max-lines replace delimiter arg-file max-chars eof");
    if (word.starts_with("-I"))
      placeholder = word.size() > 2 ? word.substr(2) : at + 1 < words.size() ? words[at + 1].text : "";
    if (word.starts_with("-i")) placeholder = word.size() > 2 ? word.substr(2) : "{}";
    if (word.starts_with("--replace")) placeholder = !contains(word, '=') ? "{}" : word.substr(10);
    from_file |= word.starts_with("-a") || word.starts_with("--arg-file");
    at += length;
  }
  if (at >= words.size()) return;
  const std::vector<ShellWord> items =
      from_file ? items_from({}, {}, {}, false, 1)
                : items_from(input, listing, command.input, !placeholder.empty(), placeholder.empty() ? 256 : 16);
  const std::vector<ShellWord> base = copy(words.subspan(at));
  if (placeholder.empty()) {
    inner.commands.push_back(base);
    inner.commands.back().insert(inner.commands.back().end(), items.begin(), items.end());
    return;
  }
  for (const ShellWord& item : items) {
    if (!inner.grow(base.size() * sizeof(ShellWord))) return;
    std::vector<ShellWord> one;
    for (const ShellWord& word : base) one.push_back(with_item(word, placeholder, item, inner));
    inner.commands.push_back(std::move(one));
  }
}

void look_into_find(const ShellCommand& command, InnerCommands& inner) {
  const std::vector<std::string> found = found_by(command);
  const Words words(command.words);
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word == "-delete" && inner.grow(found.size() * sizeof(ShellWord))) {
      std::vector<ShellWord> removal = {{"rm", {}}, {"-rf", {}}, {"--", {}}};
      for (const std::string& path : found) removal.push_back({path, {}});
      inner.commands.push_back(std::move(removal));
    }
    if (is_listed("-exec -execdir -ok -okdir", word)) i = run_for_found(words, i + 1, found, false, inner);
  }
}

void look_into_fd(const ShellCommand& command, InnerCommands& inner) {
  const Words words(command.words);
  for (size_t i = 1; i < words.size(); ++i) {
    if (is_listed("-x -X --exec --exec-batch", words[i].text))
      i = run_for_found(words, i + 1, found_by_fd(command), true, inner);
  }
}

void look_into_parallel(const ShellCommand& command, const std::optional<std::string>& input,
                        const std::optional<Listing>& listing, InnerCommands& inner) {
  const Words words(command.words);
  const size_t at = skip_options(words, 1, "jnNLISaP", "jobs colsep joblog results delay timeout arg-file");
  size_t colons = at;
  while (colons < words.size() && !words[colons].text.starts_with(":::")) ++colons;
  const ShellWord base = joined(words.subspan(at, colons - at));
  const bool from_file = (colons < words.size() && words[colons].text.starts_with("::::")) ||
                         option_value(words, "-a", "--arg-file").has_value();
  constexpr size_t kMost = 32;
  std::vector<ShellWord> items;
  for (size_t i = colons + 1; i < words.size() && items.size() < kMost && !from_file; ++i) items.push_back(words[i]);
  if (items.empty())
    items = from_file ? items_from({}, {}, {}, true, 1) : items_from(input, listing, command.input, true, kMost);
  for (const ShellWord& item : items) {
    if (!inner.grow(base.text.size())) return;
    const bool placed = contains(base.text, "{}");
    inner.scripts.push_back(base.text.empty() ? item
                            : placed          ? with_item(base, "{}", item, inner)
                                              : ShellWord{base.text + " " + item.text, base.sources});
  }
}

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

namespace {

// A tmux subcommand that ends with a shell command, and its options that take a value.
struct Opening {
  std::string_view name, short_name, valued;
};
constexpr std::array kOpenings = {Opening{"new-session", "new", "ceFfnstxy"},
                                  Opening{"new-window", "neww", "ceFnt"},
                                  Opening{"split-window", "splitw", "ceFlpt"},
                                  Opening{"respawn-pane", "respawnp", "cet"},
                                  Opening{"respawn-window", "respawnw", "cet"},
                                  Opening{"run-shell", "run", "cdt"},
                                  Opening{"display-popup", "popup", "bcdehsStTwxy"},
                                  Opening{"if-shell", "if", "t"},
                                  Opening{"pipe-pane", "pipep", "t"}};

// A single word is a shell script; several are a command.
void add_rest(Words rest, InnerCommands& inner) {
  if (rest.size() == 1) inner.scripts.push_back(rest[0]);
  if (rest.size() > 1) inner.commands.push_back(copy(rest));
}

// Adds the typed text: words literally, Enter and the like as the end of a line.
void add_typed(Words keys, InnerCommands& inner) {
  ShellWord typed;
  for (const ShellWord& key : keys) {
    const bool is_enter = key.text == "Enter" || key.text == "C-m" || key.text == "KPEnter" || key.text == "C-j";
    typed.text += is_enter ? "\n" : key.text.starts_with("C-") ? "" : key.text;
    typed.sources.insert(typed.sources.end(), key.sources.begin(), key.sources.end());
  }
  inner.scripts.push_back(std::move(typed));
}

void look_into_tmux(Words words, InnerCommands& inner) {
  const size_t at = skip_options(words, 1, "cfLST");
  if (at >= words.size()) return;
  const std::string& verb = words[at].text;
  if (verb == "send-keys" || verb == "send") {
    const size_t keys = skip_options(words, at + 1, "cNt");
    if (keys < words.size()) add_typed(words.subspan(keys), inner);
  }
  for (const Opening& one : kOpenings) {
    if (verb != one.name && verb != one.short_name) continue;
    const size_t rest = skip_options(words, at + 1, one.valued);
    if (rest < words.size()) add_rest(words.subspan(rest), inner);
  }
}

void look_into_screen(Words words, InnerCommands& inner) {
  const auto stuff =
      std::find_if(words.begin(), words.end(), [](const ShellWord& word) { return word.text == "stuff"; });
  if (stuff != words.end()) return add_typed(words.subspan(static_cast<size_t>(stuff - words.begin()) + 1), inner);
  const size_t at = skip_options(words, 1, "ceLhpsStT");
  if (at < words.size()) inner.commands.push_back(copy(words.subspan(at)));
}

}  // namespace

void look_into_terminal(std::string_view program, Words words, InnerCommands& inner) {
  program == "tmux" ? look_into_tmux(words, inner) : look_into_screen(words, inner);
}

}  // namespace ralph
