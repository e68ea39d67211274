// Tracked files that git is told to overlook: flagged "assume unchanged" or "skip the work tree" in its index. `git
// status` and `git diff` show no change to them.
#pragma once

#include <string>
#include <vector>

#include "git/git.h"

namespace ralph {

struct HiddenFile {
  std::string path;      // from the top-level folder
  bool skipped = false;  // "skip the work tree", as a sparse checkout has it for every file that it leaves out
};

// All of them, wherever in the work tree git runs. One call of git, which reads nothing but the index.
Result<std::vector<HiddenFile>> hidden_files(const Git& git);

// Those whose content, kind or mode differs from the index; what a sparse checkout leaves out does not count. `top` is
// the work tree's top-level folder.
struct HiddenChange {
  std::string path;
  bool deleted = false;
};
Result<std::vector<HiddenChange>> hidden_changes(const Git& git, const std::string& top,
                                                 const std::vector<HiddenFile>& files);

// Tracked files with the attribute `ident` that are not what a checkout would have. git takes whatever stands between
// "$Id:" and "$" for its own, and sees no change. A checkout has the name of an object there, which is old in a file
// that was edited, and nothing in one that was never checked out.
Result<std::vector<std::string>> foreign_idents(const Git& git, const std::string& top);

}  // namespace ralph
