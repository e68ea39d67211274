// Computes the next work item of a plan from its stories: fixes first, then reviews, then new work.
#pragma once

#include <optional>

#include "journal/words.h"
#include "plan/stories.h"

namespace ralph {

struct Work {
  Mode mode = Mode::kImplement;
  const Story* story = nullptr;  // in the given list; never null
};

// Among the candidates for a mode, picks the one with the smallest priority, then the first in the file. New work waits
// for its dependencies. nullopt if all stories are done. With `skip_review` there is only new work.
std::optional<Work> next_work(const StoryList& tasks, bool skip_review);

// A rough estimate of the remaining iterations, from the number of reviews that finished stories needed (1.5 per story
// while none is finished).
int estimate_iterations(const StoryList& tasks, bool skip_review);

}  // namespace ralph
