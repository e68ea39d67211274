#include "policy/command_view.h"

#include <algorithm>

#include "base/text.h"
#include "os/files.h"
#include "policy/command_runners.h"
#include "policy/command_words.h"
#include "policy/script_view.h"
#include "policy/shell/characters.h"

namespace ralph {
namespace {

void look_into_shell(Words words, const std::optional<std::string>& file, InnerCommands& inner) {
  bool command_string = false, from_input = false;
  size_t at = 1;
  while (at < words.size() && (is_option(words[at].text) || words[at].text.starts_with('+'))) {
    const std::string& word = words[at].text;
    if (word == "--") {
      ++at;
      break;
    }
    if (!word.starts_with("--")) {
      command_string |= contains(word, 'c');
      from_input |= contains(word, 's');
    }
    at += option_length(word, "oO", "rcfile init-file");
  }
  const auto arguments_from = [&](size_t first) {
    for (size_t i = first; i < words.size(); ++i) inner.arguments.push_back(words[i].text);
  };
  if (command_string) {
    if (at < words.size()) inner.scripts.push_back(words[at]);
    if (at + 1 < words.size()) inner.assignments.push_back("0=" + words[at + 1].text);  // $0
    arguments_from(at + 2);
  } else if (from_input || at >= words.size() || words[at].text == "-" ||
             is_one_of(words[at].text, {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})) {
    inner.runs_input = true;
    arguments_from(at);
  } else if (words[at].text == kSubstituted) {
    inner.runs_unknown = !file;
    if (file) inner.scripts.push_back({*file, {}});
    arguments_from(at + 1);
  }
}

// A recipe as make passes it to the shell: $$ is $, and $(HOME) is a variable, from the environment if not set here.
std::string recipe_as_shell(std::string_view recipe) {
  std::string out;
  for (size_t at = 0; at < recipe.size(); ++at) {
    const size_t end = recipe.substr(at).starts_with("$(") ? recipe.find(')', at) : std::string_view::npos;
    const std::string_view name = end == std::string_view::npos ? "" : recipe.substr(at + 2, end - at - 2);
    if (recipe.substr(at).starts_with("$$")) {
      out += recipe[at++];
    } else if (!name.empty() && std::ranges::all_of(name, is_name_part)) {
      out += fmt::format("${{{}}}", name);
      at = end;
    } else {
      out += recipe[at];
    }
  }
  return out;
}

// The recipes of a makefile: lines that begin with a tab, the text after a `;`, and $(shell ...).
void look_into_makefile(std::string_view text, InnerCommands& inner) {
  constexpr std::string_view kShell = "$(shell ";
  for (const std::string& line : split(text, '\n')) {
    if (const size_t at = line.find(kShell); at != std::string::npos)
      inner.scripts.push_back({line.substr(at + kShell.size(), line.rfind(')') - at - kShell.size()), {}});
    const size_t begin = line.starts_with('\t') ? 0 : std::min(line.find(';', line.find(':')), line.size() - 1);
    std::string_view recipe = std::string_view(line).substr(std::min(begin + 1, line.size()));
    while (!recipe.empty() && contains(" \t@-+", recipe[0])) recipe.remove_prefix(1);
    if (!recipe.empty()) inner.scripts.push_back({recipe_as_shell(recipe), {}});
  }
}

// `make -f -`, `make --eval=...`, `make SHELL=...`: rules on the command line.
void look_into_make(Words words, const std::optional<std::string>& input, const std::optional<std::string>& file,
                    InnerCommands& inner) {
  for (const ShellWord& word : words) {
    if (word.text.starts_with("SHELL=")) inner.scripts.push_back({word.text.substr(6), word.sources});
  }
  if (const auto rules = option_value(words, "", "--eval")) look_into_makefile(rules->text, inner);
  auto name = option_value(words, "-f", "--file");
  if (!name) name = option_value(words, "", "--makefile");
  if (!name || !is_one_of(name->text, {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", kSubstituted})) return;
  const std::optional<std::string>& rules = name->text == kSubstituted ? file : input;
  if (rules) look_into_makefile(*rules, inner);
  inner.runs_unknown = !rules;
}

// In ed, a line that begins with ! is a shell command.
void look_into_ed(const std::optional<std::string>& input, InnerCommands& inner) {
  for (const std::string& line : split(input.value_or(""), '\n')) {
    if (line.starts_with('!')) inner.scripts.push_back({line.substr(1), {}});
  }
}

// s/a/b/e runs the resulting line. `rest` begins with the separator.
bool substitution_runs(std::string_view rest) {
  size_t at = 1;
  for (int part = 0; part < 2; ++part, ++at) {
    while (at < rest.size() && rest[at] != rest[0]) at += rest[at] == '\\' ? 2 : 1;
  }
  if (at >= rest.size()) return false;
  const std::string_view flags = rest.substr(at, rest.find_first_of(" ;}w", at) - at);
  return contains(flags, 'e');
}

// GNU sed's command e runs the rest of its line: `sed '1e date'`.
void look_into_sed_script(const std::string& script, InnerCommands& inner) {
  bool is_text = false;  // text of a, i or c on the previous line
  for (const std::string& line : split(script, '\n')) {
    size_t at = is_text ? line.size() : 0;
    is_text = is_text && line.ends_with('\\');
    while (at < line.size()) {
      at = std::min(line.find_first_not_of(" \t;{}", at), line.size());
      for (bool address = true; address && at < line.size();) {  // 1,/x/ and the like
        const size_t begin = at;
        if (line[at] == '/') {
          for (++at; at < line.size() && line[at] != '/'; ++at) at += line[at] == '\\' ? 1 : 0;
          ++at;
        }
        at = std::min(line.find_first_not_of("0123456789$~+,! \tI", std::min(at, line.size())), line.size());
        address = at > begin && at < line.size() && line[at] == '/';
      }
      if (at + 1 < line.size() && line[at] == 'e' && line[at + 1] == ' ')
        inner.scripts.push_back({line.substr(at + 2), {}});
      if (at + 1 < line.size() && line[at] == 's' && substitution_runs(std::string_view(line).substr(at + 1)))
        inner.runs_unknown = true;
      // These commands take the rest of the line.
      if (at >= line.size() || contains("syaicerwRW:btT", line[at])) {
        is_text = is_text || (at < line.size() && line.ends_with('\\') && contains("aic", line[at]));
        break;
      }
      at = std::min(line.find(';', at), line.size());
    }
  }
}

void look_into_sed(Words words, InnerCommands& inner) {
  bool has_script = false;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word.starts_with("--expression=")) {
      look_into_sed_script(word.substr(13), inner);
      has_script = true;
    } else if (word == "--expression" || (is_option(word) && word[1] != '-' && word.ends_with('e'))) {
      if (i + 1 < words.size()) look_into_sed_script(words[++i].text, inner);
      has_script = true;
    } else if (!is_option(word) && !has_script) {
      look_into_sed_script(word, inner);
      return;
    }
  }
}

// `python -m alembic x` is `alembic x`.
void look_into_module(std::string_view program, Words words, InnerCommands& inner) {
  if (!starts_with_any(program, {"python", "pypy"})) return;
  const size_t at = skip_options(words, 1, "mWX");
  for (size_t i = 1; i + 1 < std::min(at, words.size()); ++i) {
    if (words[i].text == "-m") return inner.commands.push_back(copy(words.subspan(i + 1)));
  }
}

// Commands that git runs: aliases with !, rebase --exec, bisect run, submodule foreach.
void look_into_git(Words words, InnerCommands& inner) {
  const auto add_value = [&](const std::string& setting) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) return;
    const std::string key = to_lower(setting.substr(0, equals)), value = setting.substr(equals + 1);
    if (key.starts_with("alias.") && value.starts_with('!')) inner.scripts.push_back({value.substr(1), {}});
    for (const std::string_view end : {"command", "pager", "editor", "helper", "fsmonitor", "textconv", "askpass"}) {
      if (key.ends_with(end)) inner.scripts.push_back({value.starts_with('!') ? value.substr(1) : value, {}});
    }
  };
  for (const ShellWord& word : words) {  // ext::COMMAND is an address
    if (word.text.starts_with("ext::")) inner.scripts.push_back({word.text.substr(5), word.sources});
  }
  size_t at = 1;
  while (at < words.size() && is_option(words[at].text)) {
    if (words[at].text == "-c" && at + 1 < words.size()) add_value(words[at + 1].text);
    at += option_length(words[at].text, "cC", "git-dir work-tree namespace exec-path");
  }
  if (at >= words.size()) return;
  const std::string& verb = words[at].text;
  if (auto tool = verb == "difftool" ? option_value(words.subspan(at), "-x", "--extcmd") : std::nullopt)
    inner.scripts.push_back(*std::move(tool));
  for (size_t i = at + 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    const bool has_next = i + 1 < words.size();
    if (verb == "rebase" && (word == "-x" || word == "--exec") && has_next) inner.scripts.push_back(words[i + 1]);
    if (verb == "rebase" && word.starts_with("--exec=")) inner.scripts.push_back({word.substr(7), {}});
    if (verb == "bisect" && word == "run" && has_next) {
      inner.commands.push_back(copy(words.subspan(i + 1)));
      return;
    }
    if (verb == "submodule" && word == "foreach") {
      const size_t rest = skip_options(words, i + 1, "");
      if (rest < words.size()) inner.scripts.push_back(joined(words.subspan(rest)));
      return;
    }
    if (verb == "config" && has_next && !is_option(word)) add_value(word + "=" + words[i + 1].text);
  }
}

// Programs with their own prompt, and how to run a shell command there: psql -c '\! date'.
struct Prompt {
  std::string_view programs;
  std::string_view escapes[2];
};
constexpr Prompt kPrompts[] = {
    {"psql pgcli", {"\\!", "\\!"}},
    {"mysql mariadb mycli", {"\\!", "system "}},
    {"sqlite3 duckdb", {".shell ", ".system "}},
    {"gdb lldb", {"shell ", "!"}},
    {"ftp sftp lftp smbclient", {"!", "!"}},
};

void look_into_prompt(std::string_view program, Words words, const std::optional<std::string>& input,
                      InnerCommands& inner) {
  for (const Prompt& prompt : kPrompts) {
    if (!is_listed(prompt.programs, program)) continue;
    const auto look = [&](std::string_view line, const std::vector<ShellSpan>& sources) {
      line = trim(line);
      for (const std::string_view option : {"-c", "-e", "-ex", "--command=", "--execute="}) {
        if (line.starts_with(option)) line = trim(line.substr(option.size()));
      }
      for (const std::string_view escape : prompt.escapes) {
        if (line.starts_with(escape))
          return inner.scripts.push_back({std::string(line.substr(escape.size())), sources});
      }
    };
    for (const ShellWord& word : words) look(word.text, word.sources);
    for (const std::string& line : split(input.value_or(""), '\n')) look(line, {});
  }
}

// ansible all -m shell -a 'rm -rf x': a command for other machines.
void look_into_ansible(Words words, InnerCommands& inner) {
  const auto module = option_value(words, "-m", "--module-name");
  if (module && !is_listed("shell command raw ansible.builtin.shell ansible.builtin.command", module->text)) return;
  inner.elsewhere = true;
  if (auto script = option_value(words, "-a", "--args")) inner.scripts.push_back(*std::move(script));
}

}  // namespace

std::string program_of(const ShellCommand& command) {
  return base_name(command.word(0));
}

bool is_shell(std::string_view program) {
  return is_listed("sh bash dash zsh ksh ash fish mksh rbash pdksh tcsh", program);
}

bool is_interpreter(std::string_view program) {
  return starts_with_any(program, {"python", "perl", "pypy", "lua"}) ||
         is_listed("node nodejs deno bun ruby php Rscript osascript", program);
}

bool is_run_by_others(std::string_view variable) {
  return is_listed(
      "GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_ASKPASS SSH_ASKPASS GIT_EXTERNAL_DIFF "
      "GIT_PROXY_COMMAND EDITOR VISUAL PAGER MANPAGER PROMPT_COMMAND",
      variable);
}

InnerCommands inner_commands(const ShellCommand& command, const std::optional<std::string>& input,
                             const std::optional<Listing>& listing, const std::optional<std::string>& file) {
  InnerCommands inner;
  const Words words(command.words);
  const std::string name = program_of(command);
  if (look_into_wrapper(name, words, inner)) {
    // nothing more is known
  } else if (is_shell(name)) {
    look_into_shell(words, file, inner);
  } else if (name == "source" || name == ".") {
    inner.in_this_shell = true;
    if (words.size() > 1 && words[1].text == kSubstituted) {
      inner.runs_unknown = !file;
      if (file) inner.scripts.push_back({*file, {}});
    }
  } else if (name == "eval") {
    inner.in_this_shell = true;
    if (words.size() > 1) inner.scripts.push_back(joined(words.subspan(skip_options(words, 1, ""))));
  } else if (name == "xargs" || name == "gxargs") {
    look_into_xargs(command, input, listing, inner);
  } else if (name == "find" || name == "gfind") {
    look_into_find(command, inner);
  } else if (name == "fd" || name == "fdfind") {
    look_into_fd(command, inner);
  } else if (name == "make" || name == "gmake") {
    look_into_make(words, input, file, inner);
  } else if (name == "ed") {
    look_into_ed(input, inner);
  } else if (name == "parallel") {
    look_into_parallel(command, input, listing, inner);
  } else if (name == "watch" || name == "entr") {
    const size_t at = skip_options(words, 1, "n", "interval");
    if (at < words.size()) inner.scripts.push_back(joined(words.subspan(at)));
  } else if (name == "trap") {
    const size_t at = skip_options(words, 1, "");
    if (at + 1 < words.size()) inner.scripts.push_back(words[at]);
  } else if (name == "alias") {
    for (const ShellWord& word : words.subspan(1)) {
      const size_t equals = word.text.find('=');
      if (equals != std::string::npos) inner.scripts.push_back({word.text.substr(equals + 1), word.sources});
    }
  } else if (name == "su" || name == "runuser" || name == "script") {
    if (auto value = option_value(words, "-c", "--command")) inner.scripts.push_back(*std::move(value));
  } else if (name == "flock") {
    if (auto value = option_value(words, "-c", "--command")) {
      inner.scripts.push_back(*std::move(value));
    } else if (const size_t at = skip_options(words, 1, "wE", "wait timeout") + 1; at < words.size()) {
      inner.commands.push_back(copy(words.subspan(at)));
    }
  } else if (name == "hyperfine" || name == "concurrently") {  // each operand is a shell command line
    for (size_t at = 1; at < words.size(); ++at) {
      if (!is_option(words[at].text)) inner.scripts.push_back(words[at]);
    }
  } else if (name == "ansible") {
    look_into_ansible(words, inner);
  } else if (name == "tmux" || name == "screen") {
    look_into_terminal(name, words, inner);
  } else if (name == "sed" || name == "gsed") {
    look_into_sed(words, inner);
  } else if (name == "ssh" || name == "mosh") {
    const size_t host = skip_options(words, 1, "BbcDEeFIiJLlmOopQRSWw");
    inner.elsewhere = true;
    if (host + 1 < words.size()) inner.scripts.push_back(joined(words.subspan(host + 1)));
  } else if (name == "nix-shell") {
    if (auto value = option_value(words, "", "--run")) inner.scripts.push_back(*std::move(value));
  } else if (name == "at" || name == "batch") {
    inner.runs_input = input.has_value();
  } else if (name == "git") {
    look_into_git(words, inner);
  } else if (name == "vim" || name == "vi" || name == "nvim" || name == "ex") {
    for (size_t i = 1; i < words.size(); ++i) {
      const size_t bang = words[i].text.find('!');
      if (bang < 2 && words[i - 1].text.starts_with('-')) inner.scripts.push_back({words[i].text.substr(bang + 1), {}});
    }
  } else if (is_container_runner(name)) {
    look_into_container(name, words, inner);
  } else if (is_interpreter(name) || name.ends_with("awk") || is_listed("emacs guile", name)) {
    look_into_module(name, words, inner);
    look_into_program_text(command, input, inner);
  }
  look_into_prompt(name, words, input, inner);
  for (const ShellAssignment& one : command.assignments) {
    if (is_run_by_others(one.name)) inner.scripts.push_back(one.value);
  }
  for (const std::string& one : inner.assignments) {
    const size_t equals = one.find('=');
    if (is_run_by_others(one.substr(0, equals))) inner.scripts.push_back({one.substr(equals + 1), {}});
  }
  // Options of these programs that run a command.
  const bool has_such = name.ends_with("tar") || name == "rsync" || name == "ssh" || name == "scp" || name == "sftp";
  for (const ShellWord& word : has_such ? words : Words()) {
    for (const std::string_view option : {"--checkpoint-action=exec=", "--to-command=", "--rsh=", "ProxyCommand=",
                                          "-oProxyCommand=", "--use-compress-program="}) {
      if (word.text.starts_with(option)) inner.scripts.push_back({word.text.substr(option.size()), word.sources});
    }
  }
  return inner;
}

}  // namespace ralph
