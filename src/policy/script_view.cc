#include "policy/script_view.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "policy/shell/characters.h"

namespace ralph {
namespace {

// Calls that start a program. Their argument is a shell command or a list of words.
constexpr std::array<std::string_view, 19> kStarts = {
    "system(",       "system ",     "popen(",    "Popen(",     "run(",   "call(",         "check_call(",
    "check_output(", "execSync(",   "exec(",     "spawnSync(", "spawn(", "execFileSync(", "execFile(",
    "getoutput(",    "shell_exec(", "passthru(", "execvp(",    "exec "};
constexpr std::array<std::string_view, 17> kDeletes = {
    "rmtree(",     "os.remove(", "os.unlink(", "unlink(",       "unlinkSync(",  "rmSync(",
    "rmdirSync(",  "fs.rm(",     "rm_rf(",     "rm_rf ",        "remove_tree(", "File.delete(",
    "remove_dir(", "rmdir(",     "rimraf(",    "remove_entry(", "unlink "};
constexpr std::array<std::string_view, 9> kReads = {"open(",       "readFileSync(",      "readFile(",
                                                    "Path(",       "File.read(",         "read_text(",
                                                    "expanduser(", "file_get_contents(", "slurp("};
constexpr std::array<std::string_view, 9> kWrites = {"writeFileSync(",     "writeFile(",  "appendFileSync(",
                                                     "file_put_contents(", "File.write(", "copyfile(",
                                                     "copyFileSync(",      "renameSync(", "os.rename("};

// The literals that begin at `at`, joined like a call's arguments: 'a', "b" or ["a", "b"]. Stops at anything else.
std::vector<std::string> literals_at(std::string_view text, size_t at) {
  std::vector<std::string> found;
  const size_t limit = std::min(text.size(), at + 4096);
  while (at < limit) {
    const char c = text[at];
    if (contains(" \n\t[,(frb", c)) {
      ++at;
      continue;
    }
    if (starts_with_any(text.substr(at), {"os.path.expanduser(", "Path(", "pathlib.Path("})) {
      at = text.find('(', at) + 1;
      continue;
    }
    if (c != '"' && c != '\'' && c != '`') break;
    const std::string_view triple = text.substr(at, 3);
    const size_t width = triple.size() == 3 && triple[1] == c && triple[2] == c ? 3 : 1;
    std::string literal;
    for (at += width; at < limit && text.substr(at, width) != std::string(width, c); ++at) {
      if (text[at] == '\\' && at + 1 < limit) ++at;
      literal += text[at];
    }
    at += width;
    found.push_back(std::move(literal));
    while (at < limit && (text[at] == ' ' || text[at] == ')')) ++at;
    if (at >= limit || text[at] != ',') break;
  }
  return found;
}

// Python with comments and the insides of strings blanked, at the same length: a name in them is not a call. The code
// in {} of an f-string stays.
std::string code_of_python(std::string_view text) {
  std::string code(text);
  const auto blank = [&](size_t from, size_t to) { std::fill(&code[from], &code[to], ' '); };
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#') {
      const size_t end = std::min(text.find('\n', at), text.size());
      blank(at, end);
      at = end;
      continue;
    }
    if (c != '"' && c != '\'') continue;
    size_t prefix = at;
    while (prefix > 0 && at - prefix < 3 && is_name_part(text[prefix - 1])) --prefix;
    const bool is_format = text.substr(prefix, at - prefix).find_first_of("fF") != std::string_view::npos;
    const std::string_view quote = text.substr(at, text.substr(at).starts_with(std::string(3, c)) ? 3 : 1);
    size_t end = at + quote.size();
    while (end < text.size() && !text.substr(end).starts_with(quote) && (quote.size() == 3 || text[end] != '\n'))
      end += text[end] == '\\' ? 2 : 1;
    end = std::min(end, text.size());
    if (!is_format) blank(at + quote.size(), end);
    at = std::min(end + quote.size(), text.size()) - 1;
  }
  return code;
}

// Calls whose names are in `code`; their arguments are taken from `text`.
template <size_t N, class F>
void for_each_call(std::string_view text, std::string_view code, const std::array<std::string_view, N>& calls, F use) {
  int seen = 0;
  for (const std::string_view call : calls) {
    for (size_t at = code.find(call); at != std::string_view::npos && seen < 64; at = code.find(call, at + 1)) {
      if (at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) && call.ends_with(' ')) continue;
      if (auto literals = literals_at(text, at + call.size()); !literals.empty()) {
        use(at, std::move(literals));
        ++seen;
      }
    }
  }
}

std::string with_home(std::string path) {
  for (const std::string_view prefix : {"${process.env.HOME}", "$HOME", "${HOME}"}) {
    if (path.starts_with(prefix)) return "~" + path.substr(prefix.size());
  }
  return path;
}

// A command line with quoted paths, except for a leading ~/, which reading it resolves.
std::string line_of(std::string_view program, const std::vector<std::string>& paths) {
  std::string line(program);
  for (const std::string& raw : paths) {
    const std::string path = with_home(raw);
    const size_t home = path == "~" ? 1 : path.starts_with("~/") ? 2 : 0;
    const std::vector<std::string> rest = {path.substr(home)};
    line += " " + path.substr(0, home) + (home > 0 && rest[0].empty() ? "" : quote_shell_words(rest));
  }
  return line;
}

}  // namespace

std::optional<std::string> program_text_of(const ShellCommand& command, const std::optional<std::string>& input) {
  std::string text;
  if (program_of(command).ends_with("awk")) {  // its program is its first operand
    for (size_t i = 1; i < command.words.size(); ++i) {
      if (!command.word(i).starts_with('-')) return command.word(i);
      if (command.word(i) == "-F" || command.word(i) == "-v") ++i;
    }
    return std::nullopt;
  }
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    constexpr std::string_view kTaking =
        "-c -e -E --eval -r -p --print -pe -ne -le -lne -nle eval -ie -pie -0pe -Bc -Sc -Ic -uc";
    if (is_listed(kTaking, word) && i + 1 < command.words.size()) {
      text += command.words[++i].text + "\n";
    } else if (word.size() > 2 && word.starts_with("-c") && program_of(command).starts_with("python")) {
      text += word.substr(2);
    } else if (!word.starts_with('-') || word == "-m") {
      return text.empty() ? std::nullopt : std::optional(text);  // a file
    }
  }
  return text.empty() ? input : text;
}

// All of it, unless it is Python without exec, eval or -c.
std::string program_code_of(const ShellCommand& command, const std::string& text) {
  if (!starts_with_any(program_of(command), {"python", "pypy"})) return text;
  std::string code = code_of_python(text);
  const bool runs_text =
      contains(code, "exec(") || contains(code, "eval(") || contains(text, "'-c'") || contains(text, "\"-c\"");
  return runs_text ? text : code;
}

void look_into_program_text(const ShellCommand& command, const std::optional<std::string>& input,
                            InnerCommands& inner) {
  const auto text = program_text_of(command, input);
  if (!text) return;
  const std::string code = program_code_of(command, *text);
  for_each_call(*text, code, kStarts, [&](size_t at, std::vector<std::string> literals) {
    const size_t open = text->find_first_of("([ ", at);
    const size_t first = open == std::string::npos ? open : text->find_first_not_of("( \n", open);
    const bool is_list = first != std::string::npos && (*text)[first] == '[';
    const bool are_words = is_list || starts_with_any(std::string_view(*text).substr(at), {"spawn", "execFile"});
    inner.scripts.push_back({are_words && literals.size() > 1 ? quote_shell_words(literals) : literals[0], {}});
    if (!are_words && literals.size() > 1 && is_listed("rm sh bash", literals[0])) {
      inner.scripts.push_back({quote_shell_words(literals), {}});
    }
  });
  for_each_call(*text, code, kDeletes, [&](size_t, std::vector<std::string> literals) {
    literals.resize(1);
    inner.scripts.push_back({line_of("rm -rf --", literals), {}});
  });
  for_each_call(*text, code, kReads, [&](size_t, std::vector<std::string> literals) {
    const bool writes =
        literals.size() > 1 && literals[1].find_first_of("wa+x>") != std::string::npos && literals[1].size() < 4;
    literals.resize(1);
    inner.scripts.push_back({line_of(writes ? "tee --" : "cat --", literals), {}});
    if (contains(code, "write_text") || contains(code, "unlink()")) {
      inner.scripts.push_back({line_of("tee --", literals), {}});
    }
  });
  for_each_call(*text, code, kWrites, [&](size_t, const std::vector<std::string>& literals) {
    inner.scripts.push_back({line_of("tee --", literals), {}});
  });
  const std::string program = program_of(command);
  if (program.starts_with("perl") || program == "ruby" || program == "php") {  // `command` runs it
    for (size_t open = text->find('`'); open != std::string::npos;) {
      const size_t close = text->find('`', open + 1);
      if (close == std::string::npos) break;
      inner.scripts.push_back({text->substr(open + 1, close - open - 1), {}});
      open = text->find('`', close + 1);
    }
  }
}

}  // namespace ralph
