// Takes back what an iteration was not allowed to do to tasks.json, and keeps the rest: legal edits of the same
// iteration, formatting and key order. Pure: texts in, text out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/edit.h"
#include "plan/stories.h"
#include "plan/transitions.h"

namespace ralph {

// A task list and the text that it was read from.
struct StoryFile {
  std::string text;
  StoryList tasks;
};
Result<StoryFile> story_file_from(std::string text, std::string_view where);

// Writes the review fields of the story with this index into the text.
void set_review(JsonEdits& edits, size_t story, const Review& review);

struct Enforcement {
  StoryFile file;                       // what tasks.json has to be now
  std::vector<PlanProblem> violations;  // what was taken back, and why
  std::string moved;                    // the story that took a legal step, as in Judgement
  StoryStep step = StoryStep::kNone;
  bool no_verdict = false;  // a review in which nothing was decided
  bool replaced = false;    // nothing of what was found could be kept: `file` is the copy from before
};

// `before` is what the runner knows to be right; `found` is what lies there now (nothing: no file, or none that can be
// read). The result always passes check 1 and, if `before` did, check 2.
Enforcement enforce(const StoryFile& before, const std::optional<std::string>& found, const ReviewRules& rules,
                    std::string_view where);

}  // namespace ralph
