// tasks.json as values: the stories of a plan and the state of their reviews. Specified in docs/formats/tasks.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/words.h"
#include "json/value.h"

namespace ralph {

enum class ReviewStatus { kNone, kNeedsReview, kChangesRequested, kApproved };
template <>
inline constexpr auto kWords<ReviewStatus> = words({"null", "needs_review", "changes_requested", "approved"});
json::value to_json(ReviewStatus status);                 // null, or its word
ReviewStatus review_status_in(const json::value& story);  // kNone for anything that is not a status

inline constexpr std::int64_t kMostReviews = 1'000'000;  // as in the schema; far from overflow

// The review fields. All four are guarded: if an agent changes one out of turn, it is restored.
struct Review {
  bool passes = false;
  ReviewStatus status = ReviewStatus::kNone;
  std::int64_t count = 0;
  std::string feedback;
  bool operator==(const Review&) const = default;
};

struct Story {
  std::string id, title, description, notes;
  std::vector<std::string> criteria, depends_on;
  double priority = 0;  // the smallest number comes first
  Review review;
};

struct StoryList {
  std::string project, branch, description;
  std::vector<std::string> verify_commands;
  std::vector<Story> stories;  // in the order of the file

  const Story* find(std::string_view id) const;  // linear; build an index for many lookups
};

// A story is done when a review has approved it or, with --skip-review, when it passes.
bool is_done(const Story& story, bool skip_review);
size_t count_done(const StoryList& tasks, bool skip_review);

// The checks of `ralph plan check`, by number.
enum class Check { kSchema, kInvariants, kTransitions, kUncommitted };
template <>
inline constexpr auto kWords<Check> = words({"1", "2", "2.5", "3"});

struct PlanProblem {
  Check check = Check::kSchema;
  std::string story;    // its id; empty: not about one story
  std::string message;  // a sentence that says what is wrong and what to do
};

struct StoryReading {
  std::optional<StoryList> tasks;     // nullopt if there is any problem
  std::vector<PlanProblem> problems;  // of check 1, in file order
};

// Check 1: the text is JSON, every field has its type, ids are unique, dependencies exist and have no cycles, and
// passing stories have notes on what was done. `where` names the file in problems.
StoryReading read_tasks(std::string_view text, std::string_view where);

// For each story, how many of its dependencies are in a cycle or depend on one. Unlisted dependencies do not count.
std::vector<size_t> endless_waits(const std::vector<const Story*>& stories);

// One story alone; nullopt if a field is missing or has the wrong type.
std::optional<Story> story_from(const json::value& value);

// read_tasks() with all problems in one error.
Result<StoryList> tasks_from(std::string_view text, std::string_view where);

std::string_view tasks_schema();  // the JSON Schema, as shipped

}  // namespace ralph
