// Whatever an agent does to tasks.json: nothing crashes, the result is a consistent plan in which nothing is lost, and
// no story is approved without a review's approval. The first byte selects the iteration.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plan/enforce.h"
#include "plan/verdict.h"

namespace {

using ralph::Enforcement;
using ralph::ReviewRules;
using ralph::ReviewStatus;
using ralph::Story;
using ralph::StoryFile;

constexpr std::int64_t kCap = 2;
constexpr std::string_view kPlan = R"({
  "project": "p", "branchName": "b", "description": "d", "verifyCommands": ["make"],
  "userStories": [
    {"id": "A", "title": "a", "acceptanceCriteria": ["x", "y"], "priority": 1, "passes": false, "reviewStatus": "needs_review",
     "reviewCount": 1, "reviewFeedback": "", "notes": "n"},
    {"id": "B", "title": "b", "acceptanceCriteria": ["x"], "priority": 2, "passes": false, "reviewStatus": "changes_requested",
     "reviewCount": 1, "reviewFeedback": "f"},
    {"id": "C", "title": "c", "acceptanceCriteria": ["x"], "priority": 3, "passes": true, "reviewStatus": "approved",
     "reviewCount": 1, "reviewFeedback": "", "notes": "n", "dependsOn": []},
    {"id": "D", "title": "d", "acceptanceCriteria": ["x"], "priority": 4, "passes": false, "reviewStatus": null,
     "reviewCount": 0, "reviewFeedback": "", "dependsOn": ["C"]}
  ]
}
)";

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_approved(const Story* story) {
  return story && story->review.status == ReviewStatus::kApproved;
}

void require_order(const StoryFile& before, const StoryFile& after, const ReviewRules& rules) {
  const auto read = ralph::read_tasks(after.text, "after").tasks;
  require(read.has_value() && read->stories.size() == after.tasks.stories.size());
  require(ralph::judge_pins(ralph::before_from(before.tasks), after.tasks).empty());
  require(rules.skip_review || ralph::judge_invariants(after.tasks, kCap).empty());
  for (const Story& story : after.tasks.stories) {
    if (!is_approved(&story) || is_approved(before.tasks.find(story.id))) continue;
    require(rules.mode == ralph::Mode::kReview && !rules.skip_review && story.id == "A" && story.review.count == 2);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const StoryFile before = ralph::story_file_from(std::string(kPlan), "before").value();
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);

  const auto reading = ralph::read_tasks(text, "found");
  require(reading.tasks.has_value() == reading.problems.empty());
  for (const auto& problem : reading.problems) require(problem.message.starts_with("found"));

  const ReviewRules rules{static_cast<ralph::Mode>(data[0] % 3), data[0] % 2 == 0 ? "A" : "D", (data[0] & 8) != 0,
                          kCap};
  const Enforcement enforced = ralph::enforce(before, text, rules, "found");
  require_order(before, enforced.file, rules);
  require(is_approved(enforced.file.tasks.find("C")) || rules.skip_review);
  const Enforcement again = ralph::enforce(before, enforced.file.text, rules, "found");
  require(again.file.text == enforced.file.text && again.violations.empty() && again.moved == enforced.moved);

  const bool passed = (data[0] & 16) == 0;
  const ralph::Verdict verdict = ralph::settle(before, enforced, rules, {passed, passed ? "" : text});
  require_order(before, verdict.file, rules);
  require(passed || !is_approved(verdict.file.tasks.find("A")));
  return 0;
}
