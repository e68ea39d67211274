// What comes next in a plan, computed from its stories: fixes first, then reviews, then new work.
#pragma once

#include <optional>

#include "journal/words.h"
#include "plan/stories.h"

namespace ralph {

struct Work {
  Mode mode = Mode::kImplement;
  const Story* story = nullptr;  // in the given list; never null
};

// Among several stories for one mode, picks the smallest priority, then the first in the file. New work waits for its
// dependencies. nullopt if all stories are done. With `skip_review` there is only new work.
std::optional<Work> next_work(const StoryList& tasks, bool skip_review);

// A rough estimate of the remaining iterations: from the reviews that the finished stories needed, or one and a half
// for each story while none is finished.
int estimate_iterations(const StoryList& tasks, bool skip_review);

}  // namespace ralph
