#include "policy/command_view.h"

#include <algorithm>

#include "base/text.h"
#include "os/files.h"
#include "policy/command_terminals.h"
#include "policy/command_words.h"
#include "policy/command_wrappers.h"
#include "policy/script_view.h"

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
  } else if (from_input || at >= words.size() || words[at].text == "-" || words[at].text == "/dev/stdin") {
    inner.runs_input = true;
    arguments_from(at);
  } else if (words[at].text == kSubstituted) {
    inner.runs_unknown = !file;
    if (file) inner.scripts.push_back({*file, {}});
    arguments_from(at + 1);
  }
}

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

// What a program reads as its list: the files of a listing, the words or lines of a known text, or an unknown part.
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

// The command that `find -exec` or `fd -x` runs, from words[at] on, for the files that it found. Returns where it ends.
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

// The recipes of a makefile: lines that begin with a tab, what follows a `;`, and $(shell ...).
void look_into_makefile(std::string_view text, InnerCommands& inner) {
  constexpr std::string_view kShell = "$(shell ";
  for (const std::string& line : split(text, '\n')) {
    if (const size_t at = line.find(kShell); at != std::string::npos)
      inner.scripts.push_back({line.substr(at + kShell.size(), line.rfind(')') - at - kShell.size()), {}});
    const size_t begin = line.starts_with('\t') ? 0 : std::min(line.find(';', line.find(':')), line.size() - 1);
    std::string_view recipe = std::string_view(line).substr(std::min(begin + 1, line.size()));
    while (!recipe.empty() && contains(" \t@-+", recipe[0])) recipe.remove_prefix(1);
    if (!recipe.empty()) inner.scripts.push_back({std::string(recipe), {}});
  }
}

// `make -f -`, `make --eval=...`, `make SHELL=...`: rules that are on the line.
void look_into_make(Words words, const std::optional<std::string>& input, const std::optional<std::string>& file,
                    InnerCommands& inner) {
  for (const ShellWord& word : words) {
    if (word.text.starts_with("SHELL=")) inner.scripts.push_back({word.text.substr(6), word.sources});
  }
  if (const auto rules = option_value(words, "", "--eval")) look_into_makefile(rules->text, inner);
  auto name = option_value(words, "-f", "--file");
  if (!name) name = option_value(words, "", "--makefile");
  if (!name || !is_one_of(name->text, {"-", "/dev/stdin", kSubstituted})) return;
  const std::optional<std::string>& rules = name->text == kSubstituted ? file : input;
  if (rules) look_into_makefile(*rules, inner);
  inner.runs_unknown = !rules;
}

// A line of ed that begins with ! is for a shell.
void look_into_ed(const std::optional<std::string>& input, InnerCommands& inner) {
  for (const std::string& line : split(input.value_or(""), '\n')) {
    if (line.starts_with('!')) inner.scripts.push_back({line.substr(1), {}});
  }
}

// The command e of GNU sed runs the rest of its line: `sed '1e date'`.
void look_into_sed_script(const std::string& script, InnerCommands& inner) {
  bool is_text = false;  // of a, i or c in the line before
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
      // The rest of the line is text of these commands.
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

// git runs commands too: aliases with !, rebase --exec, bisect run, submodule foreach.
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
  size_t at = 1;
  while (at < words.size() && is_option(words[at].text)) {
    if (words[at].text == "-c" && at + 1 < words.size()) add_value(words[at + 1].text);
    at += option_length(words[at].text, "cC", "git-dir work-tree namespace exec-path");
  }
  if (at >= words.size()) return;
  const std::string& verb = words[at].text;
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
    // its words are all that is known
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
  } else if (is_interpreter(name) || name.ends_with("awk")) {
    look_into_program_text(command, input, inner);
  }
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
