// What ralph does to a plan after an iteration: reads what the agent left, puts back what it may not change, and keeps
// count of it for the journal, the people and the next iteration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/step.h"
#include "git/repository.h"
#include "plan/authority.h"
#include "plan/enforce.h"
#include "plan/plan_files.h"
#include "plan/verdict.h"

namespace ralph {

class Aftermath {
 public:
  // `iteration` is what was at work before, in words: "review iteration 3"; empty: nothing but the checks.
  Aftermath(const PlanFiles& files, Run& run, const Repository& repository, std::string iteration);

  // Judges tasks.json against `before`; what can't be kept of it is kept beside it.
  Enforcement enforce_plan(const StoryFile& before, const PinnedFiles& pinned, const ReviewRules& rules);

  // Whether the marker is as it was written. An empty text: none was.
  void check_marker(const std::string& text);

  // Whether the branch is still the one that it was, and history goes on from where it stood. Goes back to the branch;
  // a commit that was cut off is kept under refs/ralph. Before write(), because files may change. Empty: not known.
  Status check_history(const std::string& head, const std::string& branch);

  // Whether the plan's files are still what write() made of them: the checks are programs of the project too, and
  // people may edit. `file` gets what of it is allowed (a new story, another priority). `when` it was changed, in
  // words.
  bool check_unchanged(StoryFile& file, const PinnedFiles& pinned, ReviewRules rules, std::string_view when);

  // Makes the plan's files what they have to be, where they are not.
  Status write(const StoryFile& file, const PinnedFiles& pinned);

  // For what a run that was ended has written and not committed: the files that are as it left them.
  void commit_leftovers(const std::string& tasks, const PinnedFiles& pinned);

  // Commits what ralph changed, and nothing else.
  Status commit(const Verdict& verdict);

  Status check_uncommitted();

  void note(std::string text) { notes_.push_back(std::move(text)); }  // for people
  void tell(std::string text) { for_agent_.push_back(std::move(text)); }

  const std::vector<std::string>& violations() const { return violations_; }  // at most a hundred
  const std::vector<std::string>& notes() const { return notes_; }
  std::string feedback() const;  // for the next iteration; empty if there is nothing to say

 private:
  void blame(std::string why);
  void look_at_pinned(const std::string& path, const std::optional<std::string>& wanted);
  void keep_beside(const std::string& path);
  Status check_branch(const std::string& branch);
  Status put(const std::string& path, const std::string& text);
  void to_commit(const std::string& path);

  const PlanFiles& files_;
  Run& run_;
  const Repository& repository_;
  const std::string iteration_;
  std::map<std::string, std::string> seen_;  // what is known to be in the files
  std::vector<std::string> violations_, notes_, written_, for_agent_;
  bool restored_ = false;
};

}  // namespace ralph
