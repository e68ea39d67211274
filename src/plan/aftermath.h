// Processes a plan after an iteration: reads the files that the agent left, restores the content it must not change,
// and collects violations and notes for the journal, the user and the next iteration.
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

  // Judges tasks.json against `before` and against the verdict that a review `said`. A file that can't be repaired is
  // renamed in the same folder. Sets `pinned.progress` to the required content of the log.
  Enforcement enforce_plan(const StoryFile& before, PinnedFiles& pinned, const ReviewRules& rules,
                           const SaidReview& said);

  // Checks that the marker is as ralph wrote it. Empty: it wrote none.
  void check_marker(const std::string& text);

  // Checks that the branch is still the same and that history continues from `head`. Switches back to the branch; a
  // commit that is no longer part of it is kept under refs/ralph. Call before write(), because files may change. An
  // empty argument means unknown.
  Status check_history(const std::string& head, const std::string& branch);

  // Whether the plan's files are still as write() left them: the project's checks and the user may edit them. Allowed
  // changes (a new story, another priority) are applied to `file`. `when` describes the time in messages.
  bool check_unchanged(StoryFile& file, PinnedFiles& pinned, ReviewRules rules, std::string_view when);

  // Writes the plan's files whose content is not as required.
  Status write(const StoryFile& file, const PinnedFiles& pinned);

  // Commits the files that an interrupted run wrote but did not commit, if they are unchanged since.
  void commit_leftovers(const std::string& tasks, const PinnedFiles& pinned);

  // Commits only ralph's own changes.
  Status commit(const Verdict& verdict);

  // Registers the files of a review in a clean checkout, which ralph commits on the reviewer's behalf. An empty `story`
  // means that their story was already judged.
  void carried_back(const std::string& story, const std::vector<std::string>& paths);

  // Reports uncommitted files to the user and the agent.
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
