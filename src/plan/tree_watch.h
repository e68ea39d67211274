// Watches the work tree of a plan's run: what was uncommitted before it, what its checks made, what changed while they
// ran, and what a review changed. Its objections keep a story from being approved.
#pragma once

#include <string>
#include <vector>

#include "engine/run.h"
#include "git/tree_state.h"
#include "plan/plan_files.h"

namespace ralph {

class TreeWatch {
 public:
  // The references must outlive it. `top` is the work tree's top-level folder.
  TreeWatch(const Run& run, const Repository& repository, const PlanFiles& files, const std::string& top);

  Result<TreeState> look() const { return tree_state(repository_, top_, run_.index.get()); }

  // What git can't say counts as changed. What earlier checks made, and git does not ignore, is put aside before.
  void before_checks();
  void after_checks();

  // Why the work must not be approved: files changed while the checks ran or, if a review began with the commit `from`,
  // code has changed since. Where the review worked `elsewhere`, it did not change the project's. Empty: nothing speaks
  // against it.
  Result<std::string> objections(const std::string& from, bool elsewhere) const;

  // What is not committed, was not so before the run and was not made by checks. `all`: the plan's own files too.
  Result<std::vector<std::string>> uncommitted(bool all) const;

  // Files that checks of this run have made.
  std::vector<std::string> made() const;

 private:
  bool is_plan_file(const std::string& path) const;
  bool was_made(const std::string& path) const;
  void put_aside_made();

  const Run& run_;
  const Repository& repository_;
  const std::string top_, plan_folder_;  // the latter from the top, with a slash
  TreeState before_;
  std::vector<std::string> made_, moved_;  // since the run's last record
};

}  // namespace ralph
