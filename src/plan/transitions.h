// The changes that an iteration may make to a plan, as a table by mode; all others are forbidden. Pure. Used by the
// runner after each iteration, by `ralph plan check` and by the Stop hook.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/modes.h"
#include "plan/stories.h"

namespace ralph {

// The plan before the iteration, as far as known: the runner knows all of it, a marker only some fields.
struct Before {
  struct OneStory {
    Review review;
    std::vector<std::string> criteria, depends_on;
    bool complete = true;  // false: only the review without its feedback is known
    std::string title{}, description{};
  };
  std::unordered_map<std::string, OneStory> stories;
  std::vector<std::string> order;  // their ids, as in the file
  std::optional<std::vector<std::string>> verify_commands;
  std::optional<std::string> branch;
};
// `added`: verify commands that agents added, which are not pinned.
Before before_from(const StoryList& tasks, const std::vector<std::string>& added = {});

struct ReviewRules {
  Mode mode = Mode::kImplement;
  std::string story;  // the iteration's story
  bool skip_review = false;
  std::int64_t review_cap = 5;
  bool frozen = false;               // no iteration is under way: stories may be added and edited, none may take a step
  bool said = false;                 // the reviewer's message has a verdict; ralph writes it
  std::vector<std::string> added{};  // verify commands that agents added: any iteration may remove them
};

struct Judgement {
  std::vector<PlanProblem> problems;  // in list order
  std::vector<std::string> illegal;   // ids whose review fields were changed illegally
  std::string moved;                  // the story that took a legal step; empty: none did
  bool no_verdict = false;            // a review without a verdict: a problem, but nothing to revert
  StoryStep step = StoryStep::kNone;
};

// Check 2.5 for the review fields: existing stories may take only the steps of the mode; new stories must be in the
// initial state.
Judgement judge_transitions(const Before& before, const StoryList& after, const ReviewRules& rules);

// Check 2.5 for pinned content: no story deleted, no criterion or verify command removed or changed, no title or
// description changed, and the branch as the user chose it.
std::vector<PlanProblem> judge_pins(const Before& before, const StoryList& after);

// Check 2: invariants that hold for every list, whatever its history. The cap may be lowered between runs: approved
// stories stay approved, and with a complete `before`, judge_transitions() counts more precisely. Without a cap,
// reviews are not counted.
std::vector<PlanProblem> judge_invariants(const StoryList& tasks, std::optional<std::int64_t> review_cap,
                                          const Before* before = nullptr);

// The pinned texts that are missing from `now`.
std::vector<std::string> missing_from(const std::vector<std::string>& pinned, const std::vector<std::string>& now);

}  // namespace ralph
