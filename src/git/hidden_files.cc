#include "git/hidden_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kPathsOfACall = 500;  // command lines are limited

// A file's entry in the index.
struct Staged {
  std::string mode, object;
};

Result<std::string> answer_of(const Git& git, const std::vector<std::string>& words) {
  TRY_VALUE(GitEnd end, git(words));
  const bool failed = end.code != 0 || end.cut;
  if (failed) return fail(ErrorKind::kIo, "git can't say what it overlooks: {}", first_line(end.errors));
  return std::move(end.output);
}

Result<std::string> ask_about(const Git& git, std::vector<std::string> words, const std::vector<std::string>& paths) {
  words.emplace_back("--");
  words.insert(words.end(), paths.begin(), paths.end());
  return answer_of(git, words);
}

// "100644 <object> 0\tpath"
Result<std::map<std::string, Staged>> staged(const Git& git, const std::string& top,
                                             const std::vector<std::string>& paths) {
  TRY_VALUE(const std::string output, ask_about(git, {"-C", top, "ls-files", "-s", "-z"}, paths));
  std::map<std::string, Staged> found;
  for (const std::string& field : split(output, '\0')) {
    const size_t tab = field.find('\t');
    const std::vector<std::string> words = split(field.substr(0, tab), ' ');
    if (tab != std::string::npos && words.size() == 3) found[field.substr(tab + 1)] = {words[0], words[1]};
  }
  return found;
}

// One object name per path, in the order of the paths.
Result<std::vector<std::string>> objects_of(const Git& git, const std::string& top, bool filtered,
                                            const std::vector<std::string>& paths) {
  std::vector<std::string> words = {"-C", top, "hash-object"};
  if (!filtered) words.emplace_back("--no-filters");
  TRY_VALUE(const std::string output, ask_about(git, words, paths));
  std::vector<std::string> objects = split(output, '\n');
  std::erase(objects, "");
  if (objects.size() != paths.size()) return fail(ErrorKind::kIo, "git hash-object answered about other files");
  return objects;
}

Result<bool> is_sparse(const Git& git) {
  TRY_VALUE(const GitEnd end, git({"config", "--type=bool", "core.sparseCheckout"}));
  return end.code == 0 && trim(end.output) == "true";
}

std::string link_target(const std::string& path) {
  std::string target(4096, '\0');
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  target.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return target;
}

// Whether lstat() alone shows that it differs from the index; nullopt: the content must be compared.
Result<std::optional<bool>> differs_at_a_glance(const Git& git, const std::string& path, const struct stat& info,
                                                const Staged& was) {
  if (was.mode == "160000") return std::optional(false);  // a submodule: not inspected
  if (was.mode == "120000") {
    if (!S_ISLNK(info.st_mode)) return std::optional(true);
    TRY_VALUE(const std::string target, answer_of(git, {"cat-file", "blob", was.object}));
    return std::optional(target != link_target(path));
  }
  if (!S_ISREG(info.st_mode)) return std::optional(true);
  const bool ran = was.mode == "100755", runs = (info.st_mode & S_IXUSR) != 0;
  if (ran != runs) return std::optional(true);
  return std::optional<bool>();
}

constexpr std::uint64_t kMostOfIdents = 64 << 20;  // bytes of a file that is searched for them

bool is_object_name(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::ranges::all_of(text, [](char c) { return hex_digit(c) >= 0; });
}

bool has_foreign_ident(std::string_view text) {
  constexpr std::string_view kBegin = "$Id:";
  for (size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    const size_t end = text.find_first_of("$\n", at);
    if (end == std::string_view::npos) return false;
    const std::string_view inside = trim(text.substr(at, end - at));
    if (text[end] == '$' && !inside.empty() && !is_object_name(inside)) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<std::string>> foreign_idents(const Git& git, const std::string& top) {
  TRY_VALUE(const std::string output,
            answer_of(git, {"--no-literal-pathspecs", "-C", top, "ls-files", "-z", "--", ":(attr:ident)"}));
  std::vector<std::string> found;
  for (const std::string& path : split(output, '\0')) {
    struct stat info{};
    const std::string full = join_path(top, path);
    if (path.empty() || ::lstat(full.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (static_cast<std::uint64_t>(info.st_size) > kMostOfIdents || has_foreign_ident(read_file(full).value_or("")))
      found.push_back(path);
  }
  // An ident of another program, such as CVS, may have been committed.
  std::vector<std::string> foreign;
  for (size_t from = 0; from < found.size(); from += kPathsOfACall) {
    const std::vector<std::string> some(
        found.begin() + static_cast<std::ptrdiff_t>(from),
        found.begin() + static_cast<std::ptrdiff_t>(std::min(from + kPathsOfACall, found.size())));
    TRY_VALUE(const auto index, staged(git, top, some));
    TRY_VALUE(const auto objects, objects_of(git, top, false, some));
    for (size_t i = 0; i < some.size(); ++i) {
      const auto was = index.find(some[i]);
      if (was == index.end() || was->second.object != objects[i]) foreign.push_back(some[i]);
    }
  }
  return foreign;
}

Result<std::vector<HiddenFile>> hidden_files(const Git& git) {
  TRY_VALUE(const std::string output,
            answer_of(git, {"--no-literal-pathspecs", "ls-files", "-v", "-z", "--full-name", "--", ":/"}));
  std::vector<HiddenFile> files;
  for (const std::string& field : split(output, '\0')) {
    if (field.size() < 3) continue;
    const bool unchanged = field[0] >= 'a' && field[0] <= 'z', skipped = field[0] == 'S' || field[0] == 's';
    if (unchanged || skipped) files.push_back({field.substr(2), skipped});
  }
  return files;
}

Result<std::vector<HiddenChange>> hidden_changes(const Git& git, const std::string& top,
                                                 const std::vector<HiddenFile>& files) {
  std::vector<HiddenChange> changes;
  std::vector<std::string> there;
  std::optional<bool> sparse;
  for (const HiddenFile& file : files) {
    struct stat info{};
    if (::lstat(join_path(top, file.path).c_str(), &info) == 0) {
      there.push_back(file.path);
      continue;
    }
    if (file.skipped && !sparse) {
      TRY_VALUE(sparse, is_sparse(git));
    }
    if (!file.skipped || !*sparse) changes.push_back({file.path, true});
  }
  for (size_t from = 0; from < there.size(); from += kPathsOfACall) {
    const auto begin = there.begin() + static_cast<std::ptrdiff_t>(from);
    const std::vector<std::string> some(
        begin, begin + static_cast<std::ptrdiff_t>(std::min(kPathsOfACall, there.size() - from)));
    TRY_VALUE(const auto index, staged(git, top, some));
    std::vector<std::string> unknown;
    for (const std::string& path : some) {
      const auto was = index.find(path);
      struct stat info{};
      const std::string full = join_path(top, path);
      if (was == index.end() || ::lstat(full.c_str(), &info) != 0) {
        changes.push_back({path, true});
        continue;
      }
      TRY_VALUE(const auto differs, differs_at_a_glance(git, full, info, was->second));
      if (!differs) unknown.push_back(path);
      if (differs.value_or(false)) changes.push_back({path});
    }
    // A file that matches the commit byte for byte, or would be committed as it, is unchanged.
    for (const bool filtered : {false, true}) {
      if (unknown.empty()) break;
      TRY_VALUE(const auto objects, objects_of(git, top, filtered, unknown));
      std::vector<std::string> others;
      for (size_t i = 0; i < unknown.size(); ++i) {
        if (objects[i] != index.at(unknown[i]).object) others.push_back(unknown[i]);
      }
      unknown = std::move(others);
    }
    for (std::string& path : unknown) changes.push_back({std::move(path)});
  }
  return changes;
}

}  // namespace ralph
