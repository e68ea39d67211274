// Queries of the git repository that ralph works in, and the few changes it makes there itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/git.h"

namespace ralph {

// Instead of git's two letters, since git shows nothing.
inline constexpr std::string_view kHiddenChange = "hM";
// For people and agents, who see no change in `git status`.
inline constexpr std::string_view kHowToSeeHidden =
    "hidden from git by a flag: git update-index --no-assume-unchanged, then --no-skip-worktree, shows it";

// Instead of git's two letters, for a change that git would show if its index were correct.
inline constexpr std::string_view kForgedChange = "hX";
inline constexpr std::string_view kHowToSeeForged = "hidden from git by its index: git read-tree HEAD shows it";

// The same, for a change that git mistakes for an ident of its own.
inline constexpr std::string_view kIdentChange = "hI";
inline constexpr std::string_view kHowToSeeIdent =
    "hidden from git by `ident` in .gitattributes: a clone has something else at $Id";

class Repository {
 public:
  // `folder` is where git runs: for error messages, and for answers that need no git.
  explicit Repository(Git git, std::string folder = "this folder") : git_(std::move(git)), folder_(std::move(folder)) {}

  // Whether there is a repository. One that git refuses to open, or whose work tree is elsewhere, is an error.
  Result<bool> exists() const;
  Result<std::string> work_tree() const;              // its top-level folder, absolute
  Result<std::optional<std::string>> branch() const;  // nullopt: HEAD is detached
  Result<bool> has_branch(const std::string& name) const;
  Result<std::vector<std::string>> branches() const;  // all local ones
  Result<std::string> head() const;                   // empty before the first commit

  Result<std::string> message() const;  // of HEAD's commit
  Result<bool> has_commit(const std::string& name) const;

  // A ref from which the commit can be reached, not counting stashes and replacements. Empty: there is none.
  Result<std::string> ref_to(const std::string& commit) const;

  // The day, "2026-11-18", on which the file was first committed; empty: never.
  Result<std::string> first_day_of(const std::string& path) const;

  // Whether a commit could contain the file: it is in the work tree, and not ignored.
  Result<bool> accepts(const std::string& path) const;

  // "XY path" as in `git status --porcelain`, for people: one line each, whatever the file name. Without ralph's own
  // files, and without `except`, which are paths relative to the work tree.
  Result<std::vector<std::string>> uncommitted(const std::vector<std::string>& except = {}) const;

  // The same for code: every new file separately, a renamed one under both names, names unescaped.
  struct Change {
    std::string letters;  // "??": not tracked
    std::string path;     // from the top-level folder
  };
  Result<std::vector<Change>> changes() const;  // including hidden ones

  // The tracked files among them, according to the repository's own index.
  Result<std::vector<std::string>> uncommitted_paths() const;

  // Whether a commit of all changes would be empty. `new_files`: they count as changes.
  Result<bool> is_clean(bool new_files) const;

  // The changes to tracked files, as a diff to HEAD; nullopt if there is no repository or no commit.
  Result<std::optional<std::string>> diff() const;

  // Changes to files that git is told to overlook; see git/hidden_files.h. Their letters are kHiddenChange.
  Result<std::vector<Change>> hidden() const;

  // The paths that differ between a commit and HEAD, for people.
  Result<std::vector<std::string>> changed_since(const std::string& old) const;

  // Files that `old` contains and HEAD does not, and that git ignores now though they still exist: checks in the work
  // tree see them, but a checkout does not contain them.
  struct Dropped {
    std::string path;     // from the top-level folder
    bool openly = false;  // by a .gitignore in the work tree, visible to everybody
  };
  Result<std::vector<Dropped>> dropped_since(const std::string& old) const;

  // Whether `old` is still in the history of HEAD.
  Result<bool> is_ancestor(const std::string& old) const;

  // Makes a branch current, and creates it if it `is_new`. Returns git's objection; empty: it is done.
  Result<std::string> switch_to(const std::string& branch, bool is_new) const;

  // Makes a branch current again. True: it was fast-forwarded to HEAD without touching files, so it includes commits
  // made elsewhere. False: it does not include them, and the files are the branch's own again.
  Result<bool> go_back_to(const std::string& branch) const;

  // Tests that were deleted, moved, shortened or hidden since `old`, in words: "deleted: tests/a_test.py". Ignores the
  // project's git settings for diffs and for files to overlook.
  Result<std::vector<std::string>> lost_tests(const std::string& old) const;

  // Commits only these paths, whatever is staged. False: they are unchanged or ignored.
  Result<bool> commit(const std::vector<std::string>& paths, const std::string& message) const;

  // Protects a commit from garbage collection, under refs/ralph/<name>.
  Status keep(const std::string& name, const std::string& commit) const;

 private:
  Result<std::string> ask(const std::vector<std::string>& words) const;  // its output; an error if git fails
  Result<std::vector<std::string>> hidden_tests() const;

  Git git_;
  std::string folder_;
};

// Whether a path looks like a test, by its folders and name.
bool is_test_path(std::string_view path);

}  // namespace ralph
