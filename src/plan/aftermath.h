// What ralph does to a plan after an iteration: reads what the agent left, restores what it must not change, and
// collects violations and notes for the journal, the user and the next iteration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/step.h"
#include "git/repository.h"
#include "plan/authority.h"
#include "plan/enforce.h"
#include "plan/plan_files.h"
#include "plan/said_review.h"
#include "plan/verdict.h"

namespace ralph {

class Aftermath {
 public:
  // `iteration` names the iteration: "review iteration 3"; empty: only the checks ran.
  Aftermath(const PlanFiles& files, Run& run, const Repository& repository, std::string iteration);

  // Judges tasks.json against `before`, and by what a review `said`. A file of which nothing can be kept is renamed
  // beside it. `pinned.progress` becomes what the log has to be now.
  Enforcement enforce_plan(const StoryFile& before, PinnedFiles& pinned, const ReviewRules& rules,
                           const SaidReview& said);

  // Checks that the marker is as ralph wrote it. Empty: it wrote none.
  void check_marker(const std::string& text);

  // Checks that the branch is still the same and that history continues from `head`. Returns to the branch; a commit
  // that was cut off is kept under refs/ralph. Call before write(), because files may change. Empty: unknown.
  Status check_history(const std::string& head, const std::string& branch);

  // Whether the plan's files are still as written by write(): the checks are programs of the project, and the user may
  // edit. `file` gets the allowed changes (a new story, another priority). `when` says when they happened.
  bool check_unchanged(StoryFile& file, PinnedFiles& pinned, ReviewRules rules, std::string_view when);

  // Writes those of the plan's files that differ from what they must be.
  Status write(const StoryFile& file, const PinnedFiles& pinned);

  // Commits what an interrupted run wrote but did not commit: the files that are as it left them.
  void commit_leftovers(const std::string& tasks, const PinnedFiles& pinned);

  // Commits ralph's own changes, and nothing else.
  Status commit(const Verdict& verdict);

  // The files of a review in a clean checkout: ralph commits them in the reviewer's place. No story: they belong to one
  // that was judged before.
  void carried_back(const std::string& story, const std::vector<std::string>& paths);

  // Tells user and agent what was left uncommitted.
  void tell_uncommitted(const std::vector<std::string>& paths);

  void note(std::string text) { notes_.push_back(std::move(text)); }  // for the user
  void tell_agent(std::string text) { for_agent_.push_back(std::move(text)); }

  const std::vector<std::string>& violations() const { return violations_; }  // at most a hundred
  const std::vector<std::string>& notes() const { return notes_; }
  std::string feedback() const;  // for the next iteration; may be empty

 private:
  void add_violation(std::string why);
  void check_pinned(const std::string& path, const std::optional<std::string>& wanted);
  void check_progress(std::optional<std::string>& log);
  void keep_beside(const std::string& path);
  Status check_branch(const std::string& branch);
  Status put(const std::string& path, const std::string& text);
  void to_commit(const std::string& path);

  const PlanFiles& files_;
  Run& run_;
  const Repository& repository_;
  const std::string iteration_;
  std::map<std::string, std::string> seen_;  // the known content of files, by path
  std::vector<std::string> violations_, notes_, written_, for_agent_;
  std::string carried_;  // the story whose review was carried back
  bool restored_ = false;
};

}  // namespace ralph
