// The prompt of a plan's iteration: prompt.md with its placeholders filled in, plus the assignment that ralph computes
// (mode, story, rules, and notes from the previous iteration).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/modes.h"

namespace ralph {

struct Assignment {
  Mode mode = Mode::kImplement;
  const Story* story = nullptr;
  const StoryList* tasks = nullptr;
  bool skip_review = false;
  std::int64_t review_cap = 5;
  int iteration = 1, max_iterations = 15;
  std::string files_at;                       // the plan's folder as the agent sees it: "ralph"
  std::string reviewed{};                     // for a review in a clean checkout: its commit
  std::vector<std::string> tests{};           // for a review: tests that the story's iterations deleted or shortened
  std::vector<std::string> added{};           // verify commands that agents added
  std::vector<std::string> tampered{};        // for a review: changes to files that make other programs run code
  std::vector<std::string> changed_checks{};  // for a review: changed tests and files of checks, in words
  std::string changed_checks_diff{};          // their diff, each line indented; may be truncated
};

// The assignment block alone. It replaces {{RALPH_ASSIGNMENT}}, or is appended to a prompt that lacks it.
std::string assignment_text(const Assignment& assignment);

// Fills in {{RALPH_…}} and the plain names $RALPH_ITERATION and $RALPH_MAX_ITERATIONS.
std::string plan_prompt(std::string_view prompt, const Assignment& assignment);

}  // namespace ralph
