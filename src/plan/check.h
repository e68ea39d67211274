// All checks of a plan in one function: for `ralph plan check` and the Stop hook.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "plan/stories.h"
#include "plan/transitions.h"

namespace ralph {

struct CheckRequest {
  std::string_view text;  // of tasks.json
  std::string_view where;
  bool skip_review = false;  // skips checks 2 and 2.5
  std::int64_t review_cap = 5;
  // The known state before the iteration. Without it, check 2.5 is skipped and `no_before` is the warning.
  std::optional<Before> before{};
  std::string no_before{};
  std::optional<ReviewRules> rules{};
  // Lines of `git status --porcelain`; nullopt: git was not asked.
  std::optional<std::vector<std::string>> uncommitted{};
};

struct CheckReport {
  std::vector<PlanProblem> problems;
  std::vector<std::string> warnings;
  std::optional<StoryList> tasks;  // nullopt if check 1 failed
  std::vector<Check> performed;    // the checks that were performed
  bool passed() const { return problems.empty(); }
};

CheckReport check_plan(const CheckRequest& request);

// The message for an agent that may not stop yet: every problem, and what to do about uncommitted work.
std::string advice_from(const CheckReport& report);

json::object to_json(const CheckReport& report);

}  // namespace ralph
