// Tracked files that git is told to overlook: flagged "assume unchanged" or "skip worktree" in its index. `git status`
// and `git diff` show no change to them.
#pragma once

#include <string>
#include <vector>

#include "git/git.h"

namespace ralph {

struct HiddenFile {
  std::string path;      // from the top-level folder
  bool skipped = false;  // "skip worktree", which a sparse checkout sets for every file that it leaves out
};

// All of them, wherever in the work tree git runs. Runs git once; it reads only the index.
Result<std::vector<HiddenFile>> hidden_files(const Git& git);

// The files whose content, kind or mode differs from the index; those that a sparse checkout leaves out do not count.
// `top` is the work tree's top-level folder.
struct HiddenChange {
  std::string path;
  bool deleted = false;
};
Result<std::vector<HiddenChange>> hidden_changes(const Git& git, const std::string& top,
                                                 const std::vector<HiddenFile>& files);

// Tracked files with the attribute `ident` that differ from what a checkout would contain. git treats everything
// between "$Id:" and "$" as its own and sees no change. A checkout has an object name there: an outdated one if the
// file was edited, none if it was never checked out.
Result<std::vector<std::string>> foreign_idents(const Git& git, const std::string& top);

}  // namespace ralph
