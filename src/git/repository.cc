#include "git/repository.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "base/text.h"
#include "base/utf8.h"
#include "git/hidden_files.h"
#include "git/index_file.h"
#include "git/loose_head.h"
#include "git/own_paths.h"
#include "os/files.h"

namespace ralph {
namespace {

// The fields of `git -z` output: names verbatim, whatever they contain.
std::vector<std::string> fields_of(std::string_view output) {
  std::vector<std::string> fields = split(output, '\0');
  if (!fields.empty() && fields.back().empty()) fields.pop_back();
  return fields;
}

// A file name may contain newlines, chosen by an agent: it must not look like ralph's own text.
std::string shown(std::string_view path) {
  return fit_to_width(path, path.size() * 2 + 1);
}

// git's error message, without the warnings, hints and traces around it.
std::string complaint_in(std::string_view errors) {
  for (const std::string& line : split(errors, '\n')) {
    if (line.starts_with("fatal: ") || line.starts_with("error: ")) return line;
  }
  return std::string(first_line(errors));
}

tl::unexpected<Error> refusal(const GitEnd& end, const std::string& folder) {
  // git itself says what to do about a repository with another owner.
  const size_t advice = end.errors.find("git config --global --add safe.directory");
  return fail(ErrorKind::kInput, "git refuses to open the repository of {}: {}; {}", folder, complaint_in(end.errors),
              advice == std::string::npos
                  ? "fix that first"
                  : fmt::format("if you trust it, run: {}", first_line(end.errors.substr(advice))));
}

// A line of `git diff --numstat`: "3\t12\tpath"; files that are binary, or declared as such, have dashes.
struct Numstat {
  bool binary = false;
  int added = 0, removed = 0;
  std::string path;
};

std::optional<Numstat> numstat_from(const std::string& field) {
  const size_t first = field.find('\t'), second = first == std::string::npos ? first : field.find('\t', first + 1);
  if (second == std::string::npos) return std::nullopt;
  Numstat stat;
  stat.path = field.substr(second + 1);
  stat.binary = field.starts_with('-');
  std::from_chars(field.data(), field.data() + first, stat.added);
  std::from_chars(field.data() + first + 1, field.data() + second, stat.removed);
  return stat;
}

}  // namespace

bool is_test_path(std::string_view path) {
  constexpr std::array<std::string_view, 7> kFolders = {"test",      "tests",   "spec", "specs",
                                                        "__tests__", "testing", "e2e"};
  std::vector<std::string> parts = split(to_lower(path), '/');
  const std::string name = parts.back();
  parts.pop_back();
  const bool in_folder = std::ranges::any_of(parts, [&](const std::string& part) { return is_one_of(part, kFolders); });
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
  size_t command = 0;
  while (command + 2 < words.size() && (words[command] == "-c" || words[command] == "-C")) command += 2;
  if (end.code != 0) return fail(ErrorKind::kIo, "git {} failed: {}", words[command], complaint_in(end.errors));
  if (end.cut)
    return fail(ErrorKind::kIo, "git {} printed more than {}, too much to process", words[command],
                human_bytes(end.output.size()));
  return std::move(end.output);
}

Result<bool> Repository::exists() const {
  TRY_VALUE(const GitEnd end, git_({"rev-parse", "--is-inside-work-tree"}));
  if (end.code == 0 && trim(end.output) == "true") return true;
  if (end.code == 0)
    return fail(ErrorKind::kInput,
                "{} is not in the work tree of its git repository: that is bare, or core.worktree in its "
                "configuration names another folder ('git config --unset core.worktree' removes it)",
                folder_);
  if (complaint_in(end.errors).starts_with("fatal: not a git repository (or any ")) return false;
  return refusal(end, folder_);
}

Result<std::string> Repository::work_tree() const {
  TRY_VALUE(std::string folder, ask({"rev-parse", "--show-toplevel"}));
  if (folder.ends_with('\n')) folder.pop_back();
  return folder;
}

Result<std::optional<std::string>> Repository::branch() const {
  if (auto name = read_branch(folder_)) return name;
  TRY_VALUE(const GitEnd end, git_({"symbolic-ref", "-q", "--short", "HEAD"}));
  if (end.code != 0) return std::optional<std::string>();
  return std::optional<std::string>(trim(end.output));
}

Result<bool> Repository::has_branch(const std::string& name) const {
  TRY_VALUE(const GitEnd end, git_({"show-ref", "--verify", "-q", "refs/heads/" + name}));
  return end.code == 0;
}

Result<std::vector<std::string>> Repository::branches() const {
  TRY_VALUE(const std::string output, ask({"for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"}));
  std::vector<std::string> names = split(output, '\n');
  std::erase(names, "");
  return names;
}

Result<std::string> Repository::head() const {
  if (const auto loose = read_loose_head(folder_)) return loose->commit;
  TRY_VALUE(const GitEnd end, git_({"rev-parse", "-q", "--verify", "HEAD"}));
  if (end.code > 1) return refusal(end, folder_);
  return end.code == 0 ? std::string(trim(end.output)) : std::string();
}

Result<std::string> Repository::message() const {
  TRY_VALUE(const GitEnd end, git_({"log", "-1", "--format=%B"}));
  return std::string(trim(end.output));
}

Result<bool> Repository::has_commit(const std::string& name) const {
  TRY_VALUE(const GitEnd end, git_({"cat-file", "-e", name + "^{commit}"}));
  return end.code == 0;
}

Result<std::string> Repository::ref_to(const std::string& commit) const {
  TRY_VALUE(const std::string refs, ask({"for-each-ref", "--format=%(refname)", "--contains", commit}));
  for (const std::string& ref : split(refs, '\n')) {
    if (!ref.empty() && ref != "refs/stash" && !ref.starts_with("refs/replace/")) return ref;
  }
  return std::string();
}

Result<std::string> Repository::first_day_of(const std::string& path) const {
  TRY_VALUE(const std::string days, ask({"log", "--reverse", "--format=%cs", "--diff-filter=A", "--", path}));
  return std::string(first_line(days));
}

Result<bool> Repository::accepts(const std::string& path) const {
  // check-ignore takes paths, not patterns, and rejects literal pathspecs.
  TRY_VALUE(const GitEnd ignored, git_({"--no-literal-pathspecs", "check-ignore", "-q", "--", path}));
  return ignored.code == 1;  // 0: ignored; otherwise: not in the repository
}

Result<std::vector<std::string>> Repository::uncommitted(const std::vector<std::string>& except) const {
  const auto is_excepted = [&](const std::string& path) {
    return is_own_path(path) || std::find(except.begin(), except.end(), path) != except.end();
  };
  // Explicit, because the repository's settings could hide new files. A new folder is listed as a whole unless single
  // files in it matter.
  TRY_VALUE(const std::string output, ask({"status", "--porcelain", "-z",
                                           except.empty() ? "--untracked-files=normal" : "--untracked-files=all"}));
  const std::vector<std::string> fields = fields_of(output);
  std::vector<std::string> lines;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    if (field.size() < 4) continue;
    const std::string state = field.substr(0, 3), path = field.substr(3);
    const bool two = (field[0] == 'R' || field[0] == 'C') && i + 1 < fields.size();  // the original path follows
    const std::string from = two ? fields[++i] : path;
    if (is_excepted(path) && is_excepted(from)) continue;
    lines.push_back(state + (two ? fmt::format("{} -> {}", shown(from), shown(path)) : shown(path)));
  }
  return lines;
}

Result<std::vector<Repository::Change>> Repository::changes() const {
  TRY_VALUE(const std::string output, ask({"status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"}));
  std::vector<Change> changes;
  for (const std::string& field : fields_of(output)) {
    if (field.size() < 4 || is_own_path(field.substr(3))) continue;
    changes.push_back({field.substr(0, 2), field.substr(3)});
  }
  TRY_VALUE(std::vector<Change> overlooked, hidden());
  std::ranges::move(overlooked, std::back_inserter(changes));
  return changes;
}

Result<std::vector<std::string>> Repository::uncommitted_paths() const {
  TRY_VALUE(const std::string output, ask({"status", "--porcelain", "-z", "--untracked-files=no", "--no-renames"}));
  std::vector<std::string> paths;
  for (const std::string& field : fields_of(output)) {
    if (field.size() > 3) paths.push_back(field.substr(3));
  }
  return paths;
}

Result<bool> Repository::is_clean(bool new_files) const {
  std::vector<std::string> words = {"status", "--porcelain"};
  if (!new_files) words.emplace_back("--untracked-files=no");
  TRY_VALUE(const GitEnd status, git_(words));
  return status.code == 0 && trim(status.output).empty();
}

Result<std::optional<std::string>> Repository::diff() const {
  TRY_VALUE(GitEnd end, git_({"diff", "HEAD", "--"}));
  return end.code == 0 ? std::optional(std::move(end.output)) : std::nullopt;
}

Result<std::vector<Repository::Change>> Repository::hidden() const {
  if (hides_nothing(folder_)) return std::vector<Change>();
  TRY_VALUE(const std::vector<HiddenFile> files, hidden_files(git_));
  if (files.empty()) return std::vector<Change>();
  TRY_VALUE(const std::string top, work_tree());
  TRY_VALUE(const std::vector<HiddenChange> found, hidden_changes(git_, top, files));
  std::vector<Change> changes;
  for (const HiddenChange& change : found) {
    if (!is_own_path(change.path)) changes.push_back({std::string(kHiddenChange), change.path});
  }
  return changes;
}

Result<std::vector<std::string>> Repository::changed_since(const std::string& old) const {
  TRY_VALUE(const std::string output,
            ask({"-c", "diff.relative=false", "diff", "--name-only", "-z", "--no-renames", old, "HEAD"}));
  std::vector<std::string> paths;
  for (const std::string& path : fields_of(output)) {
    if (!is_own_path(path)) paths.push_back(shown(path));
  }
  return paths;
}

Result<std::vector<Repository::Dropped>> Repository::dropped_since(const std::string& old) const {
  std::vector<Dropped> dropped;
  TRY_VALUE(const std::string gone, ask({"-c", "diff.relative=false", "diff", "--name-only", "-z", "--no-renames",
                                         "--diff-filter=D", old, "HEAD"}));
  if (gone.empty()) return dropped;
  TRY_VALUE(const std::string top, work_tree());
  std::vector<std::string> there = fields_of(gone);
  std::erase_if(there,
                [&](const std::string& path) { return is_own_path(path) || !path_exists(join_path(top, path)); });
  constexpr size_t kPathsAtOnce = 500;  // command lines are limited
  for (size_t from = 0; from < there.size(); from += kPathsAtOnce) {
    const auto ignored = [&](const char* by) -> Result<std::vector<std::string>> {
      std::vector<std::string> words = {"-C", top, "ls-files", "-z", "--others", "--ignored", by, "--"};
      for (size_t i = from; i < std::min(there.size(), from + kPathsAtOnce); ++i) words.push_back(there[i]);
      TRY_VALUE(const std::string output, ask(words));
      return fields_of(output);
    };
    TRY_VALUE(const auto all, ignored("--exclude-standard"));
    TRY_VALUE(const auto openly, ignored("--exclude-per-directory=.gitignore"));
    for (const std::string& path : all) dropped.push_back({path, std::ranges::find(openly, path) != openly.end()});
  }
  return dropped;
}

Result<bool> Repository::is_ancestor(const std::string& old) const {
  TRY_VALUE(const GitEnd end, git_({"merge-base", "--is-ancestor", old, "HEAD"}));
  return end.code == 0;
}

Result<std::string> Repository::switch_to(const std::string& branch, bool is_new) const {
  TRY_VALUE(const GitEnd end, is_new ? git_({"switch", "-q", "-c", branch}) : git_({"switch", "-q", branch}));
  return end.code == 0 ? std::string() : std::string(first_line(end.errors));
}

Result<bool> Repository::go_back_to(const std::string& branch) const {
  const std::string ref = "refs/heads/" + branch;
  TRY_VALUE(const bool there, has_branch(branch));
  TRY_VALUE(const GitEnd contained, git_({"merge-base", "--is-ancestor", ref, "HEAD"}));
  if (there && contained.code != 0) {
    // Not `git switch`, which refuses during a rebase.
    TRY(ask({"checkout", "-q", branch, "--"}));
    return false;
  }
  TRY(ask({"update-ref", ref, "HEAD"}));
  TRY(ask({"symbolic-ref", "HEAD", ref}));
  return true;
}

Result<std::vector<std::string>> Repository::lost_tests(const std::string& old) const {
  const auto differences = [&](std::vector<std::string> options) {
    std::vector<std::string> words = {"-c", "diff.relative=false", "diff", "-z"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(old);
    return ask(words);
  };
  std::vector<std::string> lost;
  TRY_VALUE(const std::string moved, differences({"-M", "--diff-filter=DTR", "--name-status"}));
  const std::vector<std::string> fields = fields_of(moved);
  for (size_t i = 0; i + 1 < fields.size();) {  // "D", "T" or "R087", a path, and with R the new path
    const std::string &what = fields[i], &path = fields[i + 1];
    const bool renamed = what.starts_with('R') && i + 2 < fields.size();
    const std::string& now = fields[renamed ? i + 2 : i + 1];
    i += renamed ? 3 : 2;
    if (!is_test_path(path)) continue;
    if (!renamed) {
      lost.push_back(fmt::format("{}: {}", what == "D" ? "deleted" : "no longer a plain file", shown(path)));
    } else if (!is_test_path(now)) {
      lost.push_back(fmt::format("moved away: {} (to {})", shown(path), shown(now)));
    } else if (what != "R100") {
      lost.push_back(fmt::format("renamed and changed: {} (to {})", shown(path), shown(now)));
    }
  }
  TRY_VALUE(const std::string changed, differences({"--no-renames", "--diff-filter=M", "--numstat"}));
  for (const std::string& field : fields_of(changed)) {
    const auto stat = numstat_from(field);
    if (!stat || !is_test_path(stat->path)) continue;
    const std::string path = shown(stat->path);
    if (stat->binary) lost.push_back(fmt::format("changed, and marked as binary: {}", path));
    if (stat->removed > stat->added)
      lost.push_back(fmt::format("shortened: {} ({} lines removed, {} added)", path, stat->removed, stat->added));
  }
  TRY_VALUE(const std::vector<std::string> hidden, hidden_tests());
  if (!hidden.empty()) lost.push_back(fmt::format("hidden from git: {}", join_for_people(hidden)));
  return lost;
}

// Files flagged "assume unchanged" (a lower-case letter) or "skip worktree" (S): git sees no change to them. A sparse
// work tree may have many.
Result<std::vector<std::string>> Repository::hidden_tests() const {
  if (hides_nothing(folder_)) return std::vector<std::string>();
  constexpr size_t kNamed = 5;
  TRY_VALUE(const std::string files, ask({"ls-files", "-v", "-z"}));
  std::vector<std::string> hidden;
  size_t more = 0;
  for (const std::string& field : fields_of(files)) {
    const bool overlooked = field.starts_with('S') || (field[0] >= 'a' && field[0] <= 'z');
    if (!overlooked || field.size() < 3 || !is_test_path(field.substr(2))) continue;
    if (hidden.size() < kNamed) {
      hidden.push_back(shown(field.substr(2)));
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
    TRY_VALUE(const std::string status, ask({"status", "--porcelain", "-z", "--untracked-files=normal", "--", path}));
    if (!status.empty()) changed.push_back(path);
  }
  if (changed.empty()) return false;
  std::vector<std::string> add = {"add", "--"};
  add.insert(add.end(), changed.begin(), changed.end());
  TRY(ask(add));
  std::vector<std::string> commit;
  TRY_VALUE(const GitEnd who, git_({"config", "user.email"}));
  if (who.code != 0) commit = {"-c", "user.name=ralph", "-c", "user.email=ralph@localhost"};
  const std::vector<std::string> words = {"commit", "-q", "--no-verify", "-m", message, "--"};
  commit.insert(commit.end(), words.begin(), words.end());
  commit.insert(commit.end(), changed.begin(), changed.end());
  TRY_VALUE(const GitEnd end, git_(commit));
  if (end.code != 0) {
    return fail(ErrorKind::kIo, "git commit failed: {}",
                trim(end.errors).empty() ? std::string(first_line(end.output)) : complaint_in(end.errors));
  }
  return true;
}

Status Repository::keep(const std::string& name, const std::string& commit) const {
  TRY(ask({"update-ref", "refs/ralph/" + name, commit}));
  return {};
}

}  // namespace ralph
