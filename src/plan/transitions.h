// What an iteration may change of a plan, by its mode, as a table: everything that is not in it is forbidden. Pure;
// used after each iteration by the runner, by `ralph plan check` and by the Stop hook.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/modes.h"
#include "plan/stories.h"

namespace ralph {

// The plan before the iteration, as far as it is known: the runner knows all of it, a marker only some fields.
struct Before {
  struct OneStory {
    Review review;
    std::vector<std::string> criteria, depends_on;
    bool complete = true;  // false: feedback, criteria and dependencies are not known
  };
  std::unordered_map<std::string, OneStory> stories;
  std::vector<std::string> order;  // their ids, as in the file
  std::optional<std::vector<std::string>> verify_commands;
  std::optional<std::string> branch;
};
Before before_from(const StoryList& tasks);

struct ReviewRules {
  Mode mode = Mode::kImplement;
  std::string story;  // the one that the iteration was given
  bool skip_review = false;
  std::int64_t review_cap = 5;
  bool frozen = false;  // no iteration is under way: stories may be added and edited, none may take a step
};

struct Judgement {
  std::vector<PlanProblem> problems;  // in the order of the list
  std::vector<std::string> illegal;   // ids whose review fields were changed against the rules
  std::string moved;                  // the story that took a legal step; empty: none did
  bool no_verdict = false;            // a review in which nothing was decided: a problem, but nothing to take back
  StoryStep step = StoryStep::kNone;
};

// Check 2.5 for the review fields of every story that is there now: those that were there before may only take the
// steps of the mode, new ones have to be at the beginning.
Judgement judge_transitions(const Before& before, const StoryList& after, const ReviewRules& rules);

// Check 2.5 for what is pinned: no story is deleted, no criterion or verify command removed or changed, and the branch
// is the user's choice.
std::vector<PlanProblem> judge_pins(const Before& before, const StoryList& after);

// Check 2: what holds of every list, whatever came before. The cap may be lowered between runs: what is approved stays
// so, and where all of `before` is known, judge_transitions() counts better. No cap: reviews are not counted.
std::vector<PlanProblem> judge_invariants(const StoryList& tasks, std::optional<std::int64_t> review_cap,
                                          const Before* before = nullptr);

// The pinned texts that are no longer there.
std::vector<std::string> missing_from(const std::vector<std::string>& pinned, const std::vector<std::string>& now);

}  // namespace ralph
