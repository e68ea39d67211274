// Watches the work tree of a plan's run: files that were uncommitted before it, files that its checks created, and
// changes made while checks ran or by a review. Its objections prevent the approval of a story.
#pragma once

#include <string>
#include <vector>

#include "engine/run.h"
#include "git/tree_state.h"
#include "plan/plan_files.h"

namespace ralph {

class TreeWatch {
 public:
  // The reference arguments must outlive it. `top` is the work tree's top-level folder.
  TreeWatch(const Run& run, const Repository& repository, const PlanFiles& files, const std::string& top);

  Result<TreeState> look() const { return tree_state(repository_, top_, run_.index.get()); }

  // before_checks() first moves away unignored files that earlier checks created. If git fails, the tree counts as
  // changed.
  void before_checks();
  void after_checks();

  // Why the work must not be approved; empty if nothing speaks against it. Files changed while the checks ran or, for a
  // review that began at the commit `from`, code has changed since. `elsewhere`: the review worked outside the project,
  // so it did not make these changes.
  Result<std::string> objections(const std::string& from, bool elsewhere) const;

  // Uncommitted files, except those that were uncommitted before the run or were created by checks. `all`: includes the
  // plan's own files.
  Result<std::vector<std::string>> uncommitted(bool all) const;

  // Files that the checks of this run created.
  std::vector<std::string> made() const;

 private:
  bool is_plan_file(const std::string& path) const;
  bool was_made(const std::string& path) const;
  void move_away_made();

  const Run& run_;
  const Repository& repository_;
  const std::string top_, plan_folder_;  // the latter relative to the top, with a trailing slash
  TreeState before_;
  std::vector<std::string> made_, moved_;  // since the run's last record
};

}  // namespace ralph
