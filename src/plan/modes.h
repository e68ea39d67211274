// What comes next in a plan, computed from its stories and never asked: a fix before a review before new work.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "journal/words.h"
#include "plan/stories.h"

namespace ralph {

struct Work {
  Mode mode = Mode::kImplement;
  const Story* story = nullptr;  // of the list that it was computed from; never null
};

// Among several stories for one mode: the smallest priority, then the first in the file. New work waits for what it
// depends on. Nothing if all stories are done. With `skip_review` there is new work only.
std::optional<Work> next_work(const StoryList& tasks, bool skip_review);

// How many iterations the rest will take, roughly: from the reviews that the stories done so far have needed, or one
// and a half for each as long as none is done.
int estimate_iterations(const StoryList& tasks, bool skip_review);

}  // namespace ralph
