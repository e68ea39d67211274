#include "plan/repository.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "plan/marker.h"

namespace ralph {
namespace {

std::vector<std::string> lines_of(std::string_view output) {
  std::vector<std::string> lines;
  for (std::string& line : split(output, '\n')) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// Numbers of `git diff --numstat`: "3\t12\tpath"; binary files, or what the project calls so, have dashes.
struct Numstat {
  bool binary = false;
  int added = 0, removed = 0;
  std::string path;
};

std::optional<Numstat> numstat_from(const std::string& line) {
  const std::vector<std::string> parts = split(line, '\t');
  if (parts.size() != 3) return std::nullopt;
  Numstat stat;
  stat.path = parts[2];
  stat.binary = parts[0] == "-";
  std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), stat.added);
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), stat.removed);
  return stat;
}

}  // namespace

bool is_test_path(std::string_view path) {
  constexpr std::array<std::string_view, 7> kFolders = {"test",      "tests",   "spec", "specs",
                                                        "__tests__", "testing", "e2e"};
  std::vector<std::string> parts = split(to_lower(path), '/');
  const std::string name = parts.back();
  parts.pop_back();
  const bool in_folder = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return std::find(kFolders.begin(), kFolders.end(), part) != kFolders.end();
  });
  if (in_folder) return true;
  const std::string stem = name.substr(0, name.rfind('.'));
  const std::string own(path.substr(path.rfind('/') + 1));
  const std::string own_stem = own.substr(0, own.rfind('.'));
  return name.starts_with("test_") || name.starts_with("test-") || stem == "test" || stem == "tests" ||
         stem.ends_with("_test") || stem.ends_with("-test") || stem.ends_with(".test") || stem.ends_with("_spec") ||
         stem.ends_with(".spec") || own_stem.ends_with("Test") || own_stem.ends_with("Tests") ||
         own_stem.ends_with("Spec");
}

Result<std::string> Repository::ask(const std::vector<std::string>& words) const {
  TRY_VALUE(GitEnd end, git_(words));
  if (end.code == 0) return std::move(end.output);
  size_t command = 0;
  while (command + 2 < words.size() && words[command] == "-c") command += 2;
  return fail(ErrorKind::kIo, "git {} failed: {}", words[command], first_line(end.output));
}

Result<bool> Repository::exists() const {
  TRY_VALUE(const GitEnd end, git_({"rev-parse", "--is-inside-work-tree"}));
  return end.code == 0 && trim(end.output) == "true";
}

Result<std::optional<std::string>> Repository::branch() const {
  TRY_VALUE(const GitEnd end, git_({"symbolic-ref", "-q", "--short", "HEAD"}));
  if (end.code != 0) return std::optional<std::string>();
  return std::optional<std::string>(trim(end.output));
}

Result<bool> Repository::has_branch(const std::string& name) const {
  TRY_VALUE(const GitEnd end, git_({"show-ref", "--verify", "-q", "refs/heads/" + name}));
  return end.code == 0;
}

Result<std::string> Repository::head() const {
  TRY_VALUE(const GitEnd end, git_({"rev-parse", "-q", "--verify", "HEAD"}));
  return end.code == 0 ? std::string(trim(end.output)) : std::string();
}

Result<std::vector<std::string>> Repository::uncommitted() const {
  TRY_VALUE(const std::string output, ask({"-c", "core.quotePath=false", "status", "--porcelain"}));
  std::vector<std::string> lines = lines_of(output);
  std::erase_if(lines, [](const std::string& line) {
    // Paths are those of the repository, and the project may be a folder of it.
    const std::string path = "/" + line.substr(std::min<size_t>(3, line.size()));
    return path.ends_with(fmt::format("/{}", kMarkerFile)) || path.find("/.ralph/") != std::string::npos ||
           path.find(".rejected-") != std::string::npos;
  });
  return lines;
}

Result<bool> Repository::is_ancestor(const std::string& old) const {
  TRY_VALUE(const GitEnd end, git_({"merge-base", "--is-ancestor", old, "HEAD"}));
  return end.code == 0;
}

Result<bool> Repository::go_back_to(const std::string& branch) const {
  const std::string ref = "refs/heads/" + branch;
  TRY_VALUE(const bool there, has_branch(branch));
  TRY_VALUE(const GitEnd contained, git_({"merge-base", "--is-ancestor", ref, "HEAD"}));
  if (there && contained.code != 0) {
    // Not `git switch`: that refuses in the middle of a rebase.
    TRY(ask({"checkout", "-q", branch, "--"}));
    return false;
  }
  TRY(ask({"update-ref", ref, "HEAD"}));
  TRY(ask({"symbolic-ref", "HEAD", ref}));
  return true;
}

Result<std::vector<std::string>> Repository::lost_tests(const std::string& old) const {
  const auto differences = [&](std::vector<std::string> options) {
    std::vector<std::string> words = {"-c",   "core.quotePath=false", "-c",           "diff.relative=false",
                                      "diff", "--no-ext-diff",        "--no-textconv"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(old);
    return ask(words);
  };
  std::vector<std::string> lost;
  TRY_VALUE(const std::string moved, differences({"-M", "--diff-filter=DTR", "--name-status"}));
  for (const std::string& line : lines_of(moved)) {
    const std::vector<std::string> parts = split(line, '\t');  // "D", "T" or "R087", a path, and where it is now
    if (parts.size() < 2 || !is_test_path(parts[1])) continue;
    if (parts.size() == 2) {
      lost.push_back(fmt::format("{}: {}", parts[0] == "D" ? "deleted" : "no plain file any more", parts[1]));
    } else if (!is_test_path(parts[2])) {
      lost.push_back(fmt::format("moved away: {} (to {})", parts[1], parts[2]));
    } else if (parts[0] != "R100") {
      lost.push_back(fmt::format("renamed and changed: {} (to {})", parts[1], parts[2]));
    }
  }
  TRY_VALUE(const std::string changed, differences({"--no-renames", "--diff-filter=M", "--numstat"}));
  for (const std::string& line : lines_of(changed)) {
    const auto stat = numstat_from(line);
    if (!stat || !is_test_path(stat->path)) continue;
    if (stat->binary) lost.push_back(fmt::format("changed, and called binary: {}", stat->path));
    if (stat->removed > stat->added)
      lost.push_back(fmt::format("shortened: {} ({} lines removed, {} added)", stat->path, stat->removed, stat->added));
  }
  TRY_VALUE(const std::vector<std::string> hidden, hidden_tests());
  if (!hidden.empty()) lost.push_back(fmt::format("hidden from git: {}", join_for_people(hidden)));
  return lost;
}

// Files with the flags "assume unchanged" (a small letter) or "skip the work tree" (S): whatever happens to them is no
// difference for git. In a sparse work tree there may be many.
Result<std::vector<std::string>> Repository::hidden_tests() const {
  constexpr size_t kNamed = 5;
  TRY_VALUE(const std::string files, ask({"-c", "core.quotePath=false", "ls-files", "-v"}));
  std::vector<std::string> hidden;
  size_t more = 0;
  for (const std::string& line : lines_of(files)) {
    const bool overlooked = line[0] == 'S' || (line[0] >= 'a' && line[0] <= 'z');
    if (!overlooked || line.size() < 3 || !is_test_path(line.substr(2))) continue;
    if (hidden.size() < kNamed) {
      hidden.push_back(line.substr(2));
    } else {
      ++more;
    }
  }
  if (more > 0) hidden.push_back(fmt::format("{} more", more));
  return hidden;
}

Result<bool> Repository::commit(const std::vector<std::string>& paths, const std::string& message) const {
  std::vector<std::string> changed;
  for (const std::string& path : paths) {
    TRY_VALUE(const std::string status, ask({"status", "--porcelain", "--", path}));
    if (!trim(status).empty()) changed.push_back(path);
  }
  if (changed.empty()) return false;
  std::vector<std::string> add = {"add", "--"};
  add.insert(add.end(), changed.begin(), changed.end());
  TRY(ask(add));
  std::vector<std::string> commit;
  TRY_VALUE(const GitEnd who, git_({"config", "user.email"}));
  if (who.code != 0) commit = {"-c", "user.name=ralph", "-c", "user.email=ralph@localhost"};
  // Book-keeping of ralph's own: no hook of the project has a say in it, and none of an agent's.
  const std::vector<std::string> words = {
      "-c", "core.hooksPath=/dev/null", "commit", "-q", "--no-verify", "-m", message, "--"};
  commit.insert(commit.end(), words.begin(), words.end());
  commit.insert(commit.end(), changed.begin(), changed.end());
  TRY_VALUE(const GitEnd end, git_(commit));
  if (end.code != 0) return fail(ErrorKind::kIo, "git commit failed: {}", first_line(end.output));
  return true;
}

Status Repository::keep(const std::string& name, const std::string& commit) const {
  TRY(ask({"update-ref", "refs/ralph/" + name, commit}));
  return {};
}

}  // namespace ralph
