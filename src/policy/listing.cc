#include "policy/listing.h"

#include <algorithm>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/command_words.h"

namespace ralph {
namespace {

constexpr int kMostFilters = 12;
constexpr size_t kMostPaths = 256;

const std::string& unknown_text() {
  static const std::string kText(1, kUnknownPart);
  return kText;
}

// A command that lists files, and how to split its words.
struct Lister {
  std::string_view names;
  std::string_view valued;        // letters of options with a value
  std::string_view valued_long;   // names of options with a value
  std::string_view needs;         // without one of these it prints something else; empty: nothing is needed
  std::string_view chooses;       // options that select files
  bool has_pattern = false;       // its first operand is a pattern...
  std::string_view no_pattern{};  // ... unless one of these is given
  bool has_inverse = false;       // -L lists the files without a match
};
constexpr Lister kListers[] = {
    {"fd fdfind", "dteEjcSo",
     "max-depth min-depth exact-depth type extension exclude threads color size owner "
     "changed-within changed-before base-directory",
     "", "-e --extension -S --size --changed-within --changed-before -g", true},
    {"rg", "gtTAeBCmfjd", "glob type type-not max-count max-depth", "--files -l --files-with-matches",
     "-g --glob -t --type --iglob", true, "--files"},
    {"grep egrep fgrep", "eAfBCmdD", "include exclude exclude-dir regexp max-count",
     "-l -L --files-with-matches --files-without-match", "--include", true, "", true},
    {"ag ack", "GABCm", "ignore depth", "-l -L --files-with-matches -g", "-G", true, "", true},
    {"du", "dBtX", "max-depth exclude threshold block-size", "-a --all", "", false},
    {"tree", "LPIo", "filelimit charset", "-f", "-P", false},
};

bool has_any_option(const ShellCommand& command, std::string_view options) {
  return std::ranges::any_of(command.words, [&](const ShellWord& word) {
    const std::string_view text = word.text;
    if (!is_option(text)) return false;
    if (text.starts_with("--")) return is_listed(options, text.substr(0, text.find('=')));
    return std::any_of(text.begin() + 1, text.end(),
                       [&](char letter) { return is_listed(options, std::string{'-', letter}); });
  });
}

std::vector<std::string> operands_of(const ShellCommand& command, std::string_view valued,
                                     std::string_view valued_long) {
  std::vector<std::string> operands;
  for (size_t i = 1; i < command.words.size();) {
    const std::string& word = command.word(i);
    if (word == "--") {
      for (++i; i < command.words.size(); ++i) operands.push_back(command.word(i));
    } else if (is_option(word)) {
      if (is_listed("-x -X --exec --exec-batch", word) && is_listed("fd fdfind", program_of(command))) break;
      i += option_length(word, valued, valued_long);
    } else {
      operands.push_back(command.word(i++));
    }
  }
  return operands;
}

// The folder as a whole, or an unknown part of it.
std::string inside(const std::string& folder, bool chooses) {
  return chooses ? folder + "/" + unknown_text() : folder;
}

std::optional<Listing> listed_by(const Lister& lister, const ShellCommand& command) {
  if (!lister.needs.empty() && !has_any_option(command, lister.needs)) return std::nullopt;
  std::vector<std::string> roots = operands_of(command, lister.valued, lister.valued_long);
  bool chooses = has_any_option(command, lister.chooses);
  if (lister.has_pattern && !has_any_option(command, lister.no_pattern) && !roots.empty()) {
    const bool given_before = has_any_option(command, "-e --regexp") && lister.names != "fd fdfind";
    if (given_before) {
      chooses = true;
    } else {
      // Nearly everything fails to match a pattern.
      const bool inverts = lister.has_inverse && has_any_option(command, "-L --files-without-match");
      chooses |= !inverts && !is_one_of(roots.front(), {".", "", ".*", "*", "^"});
      roots.erase(roots.begin());
    }
  }
  if (lister.names.starts_with("grep") && roots.empty() && !has_any_option(command, "-r -R --recursive"))
    return std::nullopt;
  if (roots.empty()) roots.emplace_back(".");
  Listing listing;
  for (const std::string& root : roots) listing.paths.push_back(inside(root, chooses));
  return listing;
}

// ls prints the names in a folder without the folder, so the next command takes them as files in the working directory.
Listing listed_by_ls(const ShellCommand& command) {
  const std::vector<std::string> operands = operands_of(command, "IwT", "ignore width");
  const bool with_dots = has_any_option(command, "-a --all") && !has_any_option(command, "-t -S -c -u -X -v -r --sort");
  if (operands.empty()) return {{"./*"}, false, with_dots};
  Listing listing;
  listing.begins_with_dots = with_dots && operands.size() == 1;
  for (const std::string& one : operands) {
    const bool is_itself = has_any_option(command, "-d --directory") || one.find_first_of("*?[") != std::string::npos;
    listing.paths.push_back(is_itself ? one : is_one_of(one, {".", "./"}) ? "./*" : "./" + unknown_text());
  }
  return listing;
}

// git prints paths below the working directory.
std::optional<Listing> listed_by_git(const ShellCommand& command) {
  const auto verb = std::find_if(command.words.begin() + 1, command.words.end(),
                                 [](const ShellWord& word) { return !word.text.starts_with('-'); });
  if (verb == command.words.end()) return std::nullopt;
  if (verb->text == "ls-files") {
    const bool all = has_any_option(command, "-c --cached");
    const bool some = has_any_option(command, "-o --others -m --modified -d --deleted -i --ignored -u --unmerged");
    const bool chooses = (some && !all) || std::any_of(verb + 1, command.words.end(), [](const ShellWord& word) {
                           return !is_option(word.text) && word.text != ".";
                         });
    return Listing{{inside(".", chooses)}};
  }
  if (verb->text == "ls-tree") {  // everything in a commit, unless paths follow
    const auto is_path = [](const ShellWord& word) { return !is_option(word.text); };
    return Listing{{inside(".", std::count_if(verb + 1, command.words.end(), is_path) > 1)}};
  }
  const bool names = has_any_option(command, "--name-only -l --files-with-matches");
  return names ? std::optional(Listing{{inside(".", true)}}) : std::nullopt;
}

// Files anywhere on the machine; a plain name matches their name or a part of it.
Listing listed_by_locate(const ShellCommand& command) {
  std::string name = command.words.back().text;
  std::erase_if(name, [](char c) { return c == '*' || c == '\\'; });
  const bool is_plain = command.words.size() > 1 && !name.empty() && name.find_first_of("?[/-") != 0;
  return Listing{{"/" + unknown_text() + (is_plain ? "/" + name : "")}};
}

std::optional<Listing> listed_by(const ShellCommand& command) {
  const std::string name = program_of(command);
  if (is_listed("find gfind", name)) return Listing{found_by(command)};
  if (is_listed("ls dir vdir gls exa eza lsd", name)) return listed_by_ls(command);
  if (name == "git") return listed_by_git(command);
  if (is_listed("locate plocate mlocate mdfind", name)) return listed_by_locate(command);
  if (name == "compgen") return Listing{{command.word(1) == "-G" ? command.word(2) : "./*"}};
  for (const Lister& lister : kListers) {
    if (!is_listed(lister.names, name)) continue;
    if (auto listing = listed_by(lister, command)) return listing;
  }
  return std::nullopt;
}

// Programs that print some or all of the lines that they read from files or a pipe.
constexpr std::string_view kPassing = "cat tac sort uniq shuf tr cut column nl paste rev fold tee";
constexpr std::string_view kFilters = "grep egrep fgrep rg head tail awk gawk mawk sed comm jq yq perl sk fzf";

bool is_file_reader(const ShellCommand& command) {
  const std::string name = program_of(command);
  // The first operand of these programs is a pattern, a program or a set.
  const bool first_is_own = is_listed("grep egrep fgrep rg awk gawk mawk sed jq yq tr perl", name);
  const size_t own = first_is_own && !has_any_option(command, "-e -f") ? 1 : 0;
  return operands_of(command, "nFdfkt", "").size() > own ||
         std::ranges::any_of(command.redirections,
                             [](const auto& one) { return one.op == "<" && one.target.sources.empty(); });
}

// s/^/x/ prefixes each line, so that it names another file.
bool changes_beginning(const ShellCommand& command) {
  return is_listed("sed perl", program_of(command)) && std::ranges::any_of(command.words, [](const ShellWord& word) {
           const size_t at = word.text.find('s');
           return at != std::string::npos && word.text.size() > at + 2 && word.text[at + 2] == '^' &&
                  !is_alphanumeric(word.text[at + 1]);
         });
}

std::optional<Listing> listing_of(const ShellReading& reading, ShellSpan span, int depth);

std::optional<Listing> listing_for(const ShellReading& reading, const ShellCommand& command, int depth) {
  for (const ShellRedirection& one : command.redirections) {
    if (one.op != "<" || one.fd > 0) continue;
    if (one.target.sources.size() == 1) return listing_of(reading, one.target.sources[0], depth + 1);
    return Listing{{}, one.target.text != "/dev/null"};
  }
  return listing_of(reading, command.input, depth + 1);
}

std::optional<Listing> listing_of(const ShellReading& reading, const ShellCommand& command, int depth) {
  if (command.words.empty()) return listing_for(reading, command, depth);
  if (auto listing = listed_by(command)) return listing;
  const std::string name = program_of(command);
  const bool passes = is_listed(kPassing, name), chooses = is_listed(kFilters, name);
  if (!passes && !chooses) return std::nullopt;
  if (is_file_reader(command)) return Listing{{}, true};
  auto listing = listing_for(reading, command, depth);
  if (!listing || listing->is_anything) return listing;
  if (changes_beginning(command)) return Listing{{}, true};
  // awk '{print $2}' and the like print something for all lines.
  const bool without_dots =
      name == "tail" && listing->begins_with_dots &&
      std::ranges::any_of(command.words, [](auto& word) { return is_listed("+3 -n+3 +2 -n+2", word.text); });
  // grep -v keep prints all but a few.
  const bool inverts = is_listed("grep egrep fgrep rg", name) && has_any_option(command, "-v --invert-match");
  const bool prints_all =
      without_dots || inverts || (is_listed("awk gawk mawk", name) && command.word(1).starts_with("{"));
  if (!chooses || prints_all) return listing;
  for (std::string& path : listing->paths) {
    if (contains(path, kUnknownPart)) continue;
    path = path.ends_with("/*") ? path.substr(0, path.size() - 1) + unknown_text() : inside(path, true);
  }
  return listing;
}

std::optional<Listing> listing_of(const ShellReading& reading, ShellSpan span, int depth) {
  if (depth > kMostFilters || span.empty()) return std::nullopt;
  Listing all;
  for (const ShellCommand& command : reading.in(span)) {
    const bool goes_on = command.piped_to >= 0 && command.piped_to < span.last;
    if (command.level != span.level || goes_on || command.via >= span.first) continue;
    if (is_listed("cd read true :", command.word(0))) continue;
    auto one = listing_of(reading, command, depth + 1);
    if (!one || all.paths.size() + one->paths.size() > kMostPaths) return std::nullopt;
    all.is_anything |= one->is_anything;
    all.begins_with_dots |= all.paths.empty() && one->begins_with_dots;
    std::ranges::move(one->paths, std::back_inserter(all.paths));
  }
  if (all.paths.empty() && !all.is_anything) return std::nullopt;
  return all;
}

}  // namespace

std::vector<std::string> found_by(const ShellCommand& find) {
  constexpr std::string_view kChoosing =
      "-name -iname -path -ipath -wholename -regex -iregex -newer -mtime -mmin -atime -amin -ctime "
      "-cmin -size -empty -perm -user -links -lname -samefile -inum -newermt -executable";
  std::vector<std::string> roots;
  size_t at = 1;
  while (at < find.words.size() &&
         (find.word(at) == "-L" || find.word(at) == "-P" || find.word(at) == "-H" || find.word(at).starts_with("-O")))
    ++at;
  for (; at < find.words.size(); ++at) {
    const std::string& word = find.word(at);
    if (word.starts_with('-') || word == "(" || word == "!") break;
    roots.push_back(word);
  }
  if (roots.empty()) roots.emplace_back(".");
  std::string below, whole;
  bool chooses = false, one_of_several = false;
  for (; at < find.words.size(); ++at) {
    const std::string& word = find.word(at);
    const std::string& value = find.word(at + 1);
    if (word == "-o" || word == "-or" || word == "-prune" || word == ",") one_of_several = true;
    const bool is_odd_type = (word == "-type" || word == "-xtype") && value.find_first_of("fd") == std::string::npos;
    if (!is_odd_type && !is_listed(kChoosing, word)) continue;
    const bool is_name = word.ends_with("name") || word.ends_with("path") || word.ends_with("regex");
    const bool negated = find.word(at - 1) == "!" || find.word(at - 1) == "-not";
    if (is_name && (negated || value == "*")) continue;  // all, or all but a few
    chooses = true;
    if (word == "-name" || word == "-iname") below = value;
    if (word == "-path" || word == "-wholename") whole = value;
  }
  std::vector<std::string> found;
  for (const std::string& root : roots) {
    if (!chooses) {
      found.push_back(root);
    } else if (whole.empty() || one_of_several) {
      found.push_back(root + "/" + (below.empty() ? std::string(1, kUnknownPart) : below));
    } else if (whole.starts_with("*/")) {  // anywhere below, so directly below too
      found.push_back(root + whole.substr(1));
    } else {
      found.push_back(whole);
    }
  }
  return found;
}

std::vector<std::string> found_by_fd(const ShellCommand& fd) {
  return listed_by(kListers[0], fd)->paths;
}

std::optional<Listing> listing_of(const ShellReading& reading, ShellSpan span) {
  return listing_of(reading, span, 0);
}

std::optional<Listing> listing_for(const ShellReading& reading, const ShellCommand& command) {
  return listing_for(reading, command, 0);
}

}  // namespace ralph
