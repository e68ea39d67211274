#include "policy/script_view.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "policy/shell/characters.h"

namespace ralph {
namespace {

// Calls that start a program. Their arguments are a shell command or a list of words.
constexpr std::string_view kStarts[] = {"system(",       "system ",         "popen(",        "Popen(",    "run(",
                                        "call(",         "check_call(",     "check_output(", "execSync(", "exec(",
                                        "spawnSync(",    "spawn(",          "execFileSync(", "execFile(", "getoutput(",
                                        "passthru(",     "shell_exec(",     "execvp(",       "exec ",     "os.execute(",
                                        "Deno.Command(", "do shell script "};
constexpr std::string_view kDeletes[] = {
    "rmtree(",     "rmtree ",       "os.remove(",       "os.unlink(",   "unlink(",          "unlink ",
    "unlinkSync(", "rmSync(",       "rmdirSync(",       "fs.rm(",       "rm_rf(",           "rm_rf ",
    "rm_r(",       "remove_tree(",  "remove_tree ",     "File.delete(", "remove_dir(",      "rmdir(",
    "rimraf(",     "remove_entry(", "Deno.removeSync(", "Deno.remove(", "delete-directory "};
constexpr std::string_view kReads[] = {"open(",      "readFileSync(", "readFile(",          "Path(", "File.read(",
                                       "read_text(", "expanduser(",   "file_get_contents(", "slurp("};
constexpr std::string_view kWrites[] = {"writeFileSync(",     "writeFile(",  "appendFileSync(",
                                        "file_put_contents(", "File.write(", "copyfile(",
                                        "copyFileSync(",      "renameSync(", "os.rename("};
// Calls that list the files of a folder.
constexpr std::string_view kLists[] = {"listdir(", "glob(",     "glob ",        "Dir[",       "scandir(",
                                       "os.walk(", "children(", "readdirSync(", "opendir D,", "readDirSync(",
                                       "readDir(", "iterdir(",  "finddepth(",   "find("};
// Sources of names that are not on the command line.
constexpr std::string_view kNameSources[] = {
    "stdin",    "STDIN",         "readlines", "ARGF",      "ARGV",  "argv",          "io.lines",   "popen(",
    "foreach(", "check_output(", "<>",        "execSync(", "open(", "readFileSync(", "read_text(", "fgets("};

// Calls around a literal that don't change it, and expressions that stand for a folder.
constexpr std::string_view kAround[] = {
    "os.path.expanduser(", "pathlib.Path(", "Path(", "glob.glob(", "glob(", "glob ", "{args:", "{ args:"};
constexpr std::string_view kHomes[] = {"$ENV{HOME}",
                                       "process.env.HOME",
                                       "os.homedir()",
                                       "require('os').homedir()",
                                       "require(\"os\").homedir()",
                                       "pathlib.Path.home()",
                                       "Path.home()",
                                       "Dir.home",
                                       "Deno.env.get('HOME')",
                                       "Deno.env.get(\"HOME\")",
                                       "os.environ['HOME']",
                                       "os.environ[\"HOME\"]",
                                       "ENV['HOME']",
                                       "getenv('HOME')"};
constexpr std::string_view kHere[] = {"process.cwd()", "os.getcwd()", "pathlib.Path.cwd()", "Path.cwd()", "Dir.pwd",
                                      "Deno.cwd()",    "getcwd()"};

// The length of the expression that `text` begins with; 0 if none of them.
size_t begins_with(std::string_view text, std::span<const std::string_view> expressions) {
  for (const std::string_view one : expressions) {
    if (text.starts_with(one)) return one.size();
  }
  return 0;
}

// A literal whose interpolated parts are replaced by unknown parts: {x} in an f-string, %s and {} in a formatted
// string, #{x}. Variables ($x, ${x}) are left to the shell's reader.
std::string interpolated(const std::string& literal, bool is_format_string, std::string_view rest) {
  const bool is_formatted = rest.starts_with('%') || rest.starts_with(".format");
  std::string out;
  for (size_t at = 0; at < literal.size(); ++at) {
    const bool is_ruby = literal.compare(at, 2, "#{") == 0;
    const size_t close = is_ruby || literal[at] == '{' ? literal.find('}', at) : std::string::npos;
    if (close != std::string::npos && (is_ruby || is_format_string || is_formatted)) {
      out += kUnknownPart;
      at = close;
    } else if (is_formatted && literal[at] == '%' && at + 1 < literal.size() && is_alphanumeric(literal[at + 1])) {
      out += kUnknownPart;
      ++at;
    } else {
      out += literal[at];
    }
  }
  return out;
}

// The end of perl's qw(rm -rf x) or qw{...}, if the text begins with one; else npos.
size_t end_of_word_list(std::string_view text) {
  constexpr std::string_view kOpening = "({[</|!", kClosing = ")}]>/|!";
  const size_t kind = text.starts_with("qw") && text.size() > 3 ? kOpening.find(text[2]) : std::string_view::npos;
  return kind == std::string_view::npos ? kind : text.find(kClosing[kind], 3);
}

// The literals that begin at `at`, joined like a call's arguments: 'a', "b" or ["a", "b"]. Stops at anything else. A
// literal followed by a concatenation ("a" + x) ends in an unknown part.
std::vector<std::string> literals_at(std::string_view text, size_t at) {
  std::vector<std::string> found;
  const size_t limit = std::min(text.size(), at + 4096);
  while (at < limit) {
    const char c = text[at];
    const std::string_view rest = text.substr(at, limit - at);
    if (const size_t length = begins_with(rest, kAround)) {
      at += length;
      continue;
    }
    const size_t home = begins_with(rest, kHomes), here = begins_with(rest, kHere);
    if (home + here > 0) {
      found.emplace_back(home > 0 ? "~" : ".");
      at += home + here;
    } else if (contains(" \n\t[,(frb", c)) {
      ++at;
      continue;
    } else if (const size_t close = end_of_word_list(rest); close != std::string_view::npos) {
      for (const std::string& word : split(rest.substr(3, close - 3), ' ')) {
        if (!word.empty()) found.push_back(word);
      }
      at += close + 1;
    } else if (const size_t angle = c == '<' ? rest.find('>') : std::string_view::npos;
               angle != std::string_view::npos &&
               rest.substr(0, angle).find_first_of("*?~/") != std::string_view::npos) {
      found.emplace_back(rest.substr(1, angle - 1));  // <*.o>: perl's glob
      at += angle + 1;
    } else if (c == '"' || c == '\'' || c == '`') {
      const std::string_view triple = text.substr(at, 3);
      const size_t width = triple.size() == 3 && triple[1] == c && triple[2] == c ? 3 : 1;
      std::string literal;
      const bool is_format = at > 0 && (text[at - 1] == 'f' || text[at - 1] == 'F');
      for (at += width; at < limit && text.substr(at, width) != std::string(width, c); ++at) {
        if (text[at] == '\\' && at + 1 < limit) ++at;
        literal += text[at];
      }
      at += width;
      const std::string_view after = trim(text.substr(std::min(at, text.size())));
      found.push_back(interpolated(literal, is_format, after));
    } else {
      break;
    }
    while (at < limit && (text[at] == ' ' || text[at] == ')')) ++at;
    if (at >= limit || text[at] != ',') break;
  }
  const bool goes_on = at < limit && at > 0 && text[at - 1] != ')' && contains("+.$&", text[at]);
  if (!found.empty() && goes_on) found.back() += kUnknownPart;
  return found;
}

// Python with comments and the contents of strings blanked, at the same length, because a name in them is not a call.
// Code in {} of an f-string is kept.
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
template <class F>
void for_each_call(std::string_view text, std::string_view code, std::span<const std::string_view> calls, F use) {
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

// A command line with quoted paths. A leading ~/ stays unquoted, so that the shell's reader resolves it.
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

// Whether it deletes files named by a variable: os.remove(f), unlink $f, map(os.remove, files), sub { unlink }.
bool deletes_variables(std::string_view text, std::string_view code) {
  if (contains(code, "\"unlink\"") || contains(code, "'unlink'")) return true;
  for (const std::string_view call : kDeletes) {
    const std::string_view name = call.substr(0, call.size() - 1);
    for (size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
      const size_t end = at + name.size();
      const bool is_word = (at == 0 || !is_name_part(code[at - 1])) && (end == code.size() || !is_name_part(code[end]));
      const bool is_value = end < code.size() && contains(",)};", code[end]);  // map(os.remove, ...)
      if (is_word && (is_value || literals_at(text, std::min(end + 1, text.size())).empty())) return true;
    }
  }
  return false;
}

// The literal of the call that `.name(` at `at` is a method of: 'build' of Path('build').glob('*').
std::optional<std::string> folder_before(std::string_view text, size_t at) {
  if (at < 3 || text[at - 1] != '.' || text[at - 2] != ')') return std::nullopt;
  const size_t open = text.rfind('(', at - 2);
  if (open == std::string_view::npos) return std::nullopt;
  auto literals = literals_at(text, open + 1);
  return literals.size() == 1 ? std::optional(std::move(literals[0])) : std::nullopt;
}

// The files that a call lists: glob('*.o'), Path('build').iterdir(), finddepth(sub { ... }, ".").
std::optional<std::string> files_of(std::string_view text, std::string_view call, size_t at) {
  const bool is_find = call.ends_with("find(") || call.ends_with("finddepth(");
  const size_t block = is_find ? text.find('}', at) : std::string_view::npos;
  if (is_find && block == std::string_view::npos) return std::nullopt;
  const auto literals = literals_at(text, is_find ? block + 1 : at + call.size());
  const auto folder = folder_before(text, at);
  if (literals.empty()) return folder ? std::optional(*folder + "/*") : std::nullopt;
  const bool is_pattern = literals[0].find_first_of("*?[") != std::string::npos;
  const std::string files = is_pattern ? literals[0] : literals[0] + "/*";
  return folder ? *folder + "/" + files : files;
}

// Handles a program that deletes files that it lists or reads: [os.remove(f) for f in os.listdir('.')].
void delete_what_is_listed(const ShellCommand& command, std::string_view text, std::string_view code,
                           InnerCommands& inner) {
  if (!deletes_variables(text, code)) return;
  bool is_listed_here = false;
  for (const std::string_view call : kLists) {
    for (size_t at = code.find(call), seen = 0; at != std::string_view::npos && seen < 64;
         at = code.find(call, at + 1), ++seen) {
      const auto files = files_of(text, call, at);
      if (!files) continue;
      is_listed_here = true;
      inner.scripts.push_back({line_of("rm -rf --", {*files}), {}});
    }
  }
  if (is_listed_here) return;
  // perl -ne, ruby -ne: runs once per input line.
  const bool reads_lines =
      is_listed("perl ruby", program_of(command)) && std::ranges::any_of(command.words, [](const ShellWord& word) {
        return word.text.size() > 1 && word.text[0] == '-' && word.text[1] != '-' && word.text.size() < 8 &&
               word.text.find_first_of("np") != std::string::npos;
      });
  const auto names = [&](std::string_view source) { return contains(code, source); };
  if (reads_lines || std::ranges::any_of(kNameSources, names))
    inner.scripts.push_back({line_of("rm -rf --", {}) + " \"$name\"", {}});
}

// Adds the texts between `opening` and `closing`, which a shell runs.
void add_quoted(const std::string& text, std::string_view opening, char closing, InnerCommands& inner) {
  for (size_t open = text.find(opening); open != std::string::npos;) {
    const size_t close = text.find(closing, open + opening.size());
    if (close == std::string::npos) break;
    inner.scripts.push_back({text.substr(open + opening.size(), close - open - opening.size()), {}});
    open = text.find(opening, close + 1);
  }
}

// perl: open(F, "|command"), open(F, "command|"), open(F, "-|", "command").
void look_into_perl_pipes(std::string_view text, InnerCommands& inner) {
  constexpr std::string_view kOpen = "open";
  int seen = 0;
  for (size_t at = text.find(kOpen); at != std::string_view::npos && seen < 64; at = text.find(kOpen, at + 1), ++seen) {
    const size_t comma = text.find_first_of(",;", at);
    if (comma == std::string_view::npos || text[comma] == ';') continue;
    std::vector<std::string> literals = literals_at(text, comma + 1);
    if (literals.empty()) continue;
    const std::string_view mode = trim(literals[0]);
    if (is_one_of(mode, {"|-", "-|"})) {
      literals.erase(literals.begin());
      inner.scripts.push_back({join(literals, " "), {}});
    } else if (mode.starts_with('|')) {
      inner.scripts.push_back({std::string(mode.substr(1)), {}});
    } else if (mode.ends_with('|')) {
      inner.scripts.push_back({std::string(mode.substr(0, mode.size() - 1)), {}});
    }
  }
}

// awk also runs commands at the other end of a pipe: "command" | getline, print | "sh", and the value of a variable.
void look_into_awk(std::string_view text, InnerCommands& inner) {
  std::vector<std::string> literals;
  bool runs_variable = false, feeds_shell = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      std::string literal;
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        literal += text[at];
      }
      const size_t next = text.find_first_not_of(" \t|&", std::min(at + 1, text.size()));
      const bool is_read = next != std::string_view::npos && text.substr(next).starts_with("getline") &&
                           contains(text.substr(at, next - at), '|');
      // awk concatenates adjacent expressions: "rm -rf " $0.
      if (next != std::string_view::npos && (is_name_part(text[next]) || text[next] == '$') && !is_read)
        literal += kUnknownPart;
      if (is_read) inner.scripts.push_back({literal, {}});
      literals.push_back(std::move(literal));
    } else if (text[at] == '|' && text.substr(at, 2) != "||" && (at == 0 || text[at - 1] != '|')) {
      const auto target = literals_at(text, text[std::min(at + 1, text.size() - 1)] == '&' ? at + 2 : at + 1);
      if (target.empty()) {  // c | getline, print | c; but not /a|b/
        const size_t before = text.find_last_not_of(" \t", at == 0 ? 0 : at - 1);
        const bool is_read = before != std::string_view::npos && is_name_part(text[before]) &&
                             trim(text.substr(at + 1, 24)).starts_with("getline");
        constexpr size_t kLongestStatement = 256;  // so that many bars take linear time
        const size_t from = at - std::min(at, kLongestStatement);
        const std::string_view statement = text.substr(from, at - from);
        runs_variable |= is_read || trim(statement.substr(statement.find_last_of(";{}\n") + 1)).starts_with("print");
        continue;
      }
      inner.scripts.push_back({target[0], {}});
      feeds_shell |= is_shell(std::string_view(target[0]).substr(target[0].rfind('/') + 1));
    } else if (text.substr(at).starts_with("system(")) {
      runs_variable |= literals_at(text, at + 7).empty();
    }
  }
  if (!runs_variable && !feeds_shell) return;
  for (std::string& literal : literals) inner.scripts.push_back({std::move(literal), {}});
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
    constexpr std::string_view kTaking = "-c -e -E --eval -r -p --print -ie -pie eval -Bc -Sc -Ic -uc";
    // perl -lne, ruby -0ne: letters without a value before the e.
    const bool is_one_line = word.size() > 2 && word[0] == '-' && contains("eE", word.back()) &&
                             word.find_first_not_of("0123456789lnpaw", 1) == word.size() - 1;
    if ((is_one_line || is_listed(kTaking, word)) && i + 1 < command.words.size()) {
      text += command.words[++i].text + "\n";
    } else if (word.size() > 2 && word.starts_with("-c") && program_of(command).starts_with("python")) {
      text += word.substr(2);
    } else if (word == "run" && is_listed("deno bun", program_of(command))) {
      continue;
    } else if (!word.starts_with('-') || word == "-m") {
      return text.empty() ? std::nullopt : std::optional(text);  // a file
    }
  }
  return text.empty() ? input : text;
}

// The whole text, unless it is Python without exec, eval or -c.
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
    // awk concatenates adjacent expressions: system("rm -rf " f).
    const size_t end = text->find_first_not_of(" \t", text->find('"', std::min(first, text->size()) + 1) + 1);
    if (program_of(command).ends_with("awk") && end != std::string::npos && is_name_part((*text)[end]))
      literals[0] += kUnknownPart;
    inner.scripts.push_back({are_words && literals.size() > 1 ? line_of("", literals) : literals[0], {}});
    if (!are_words && literals.size() > 1 && is_listed("rm sh bash", literals[0])) {
      inner.scripts.push_back({line_of("", literals), {}});
    }
  });
  for_each_call(*text, code, kDeletes, [&](size_t, std::vector<std::string> literals) {
    literals.resize(1);
    // glob "* .*": several patterns.
    if (contains(literals[0], '*') && contains(literals[0], ' ')) literals = split(literals[0], ' ');
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
  delete_what_is_listed(command, *text, code, inner);
  const std::string program = program_of(command);
  if (program.starts_with("perl") || program == "ruby" || program == "php") {  // `command`, qx(command), %x(command)
    constexpr std::pair<std::string_view, char> kQuotes[] = {{"`", '`'},   {"qx(", ')'}, {"qx{", '}'},
                                                             {"qx/", '/'}, {"%x(", ')'}, {"%x{", '}'}};
    for (const auto& [opening, closing] : kQuotes) add_quoted(*text, opening, closing, inner);
  }
  if (program.starts_with("perl")) look_into_perl_pipes(*text, inner);
  if (program == "bun") add_quoted(*text, "Bun.$`", '`', inner);
  if (program.ends_with("awk")) look_into_awk(*text, inner);
}

}  // namespace ralph
