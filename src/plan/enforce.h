// Reverts the illegal changes of an iteration to tasks.json and keeps the rest: legal edits of the same iteration,
// formatting and key order. Pure: texts in, text out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/edit.h"
#include "plan/stories.h"
#include "plan/transitions.h"

namespace ralph {

// A story list and the text it was parsed from.
struct StoryFile {
  std::string text;
  StoryList tasks;
};
Result<StoryFile> story_file_from(std::string text, std::string_view where);

// Writes the review fields of the story with this index.
void set_review(JsonEdits& edits, size_t story, const Review& review);

// The file with the story's review replaced, and its notes too if `notes` is not empty. Unchanged without such a story.
StoryFile with_review(const StoryFile& file, const std::string& id, const Review& review, std::string_view notes = {});

struct Enforcement {
  StoryFile file;                       // the required content of tasks.json
  std::vector<PlanProblem> violations;  // what was reverted, and why
  std::string moved;                    // the story that took a legal step, as in Judgement
  StoryStep step = StoryStep::kNone;
  bool no_verdict = false;  // a review without a verdict
  bool replaced = false;    // nothing could be kept: `file` is `before`
  bool refused = false;     // the given story's review fields were restored
  // Set by apply_said_review().
  bool heard = false;      // the verdict was said, and ralph wrote it
  bool unsaid = false;     // a verdict was written but not said: it was reverted
  bool disagreed = false;  // words and file disagree; changes_requested counts
};

// `before` is the trusted state; `found` is the current text (nullopt: missing or unreadable). The result always passes
// check 1 and, if `before` did, check 2.
Enforcement enforce(const StoryFile& before, const std::optional<std::string>& found, const ReviewRules& rules,
                    std::string_view where);

}  // namespace ralph
