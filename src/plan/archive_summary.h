// summary.md of an archived plan: its stories, their outcomes, and the results of the reviews. Pure.
#pragma once

#include <string>
#include <string_view>

#include "plan/stories.h"

namespace ralph {

struct PlanFacts {
  StoryList tasks;      // as far as readable
  std::string problem;  // why `tasks` may be incomplete; empty: it is complete
  std::string started;  // "2026-11-10", or as written; empty: unknown
  std::string ended;
};

// Reads the facts from a tasks.json that may be invalid. Fields of the wrong type are skipped, because a plan can be
// archived even after an agent broke it.
PlanFacts facts_from(std::string_view tasks_text);

// The text after "Started:" in progress.txt, as a date if it begins with one; may be empty.
std::string started_in(std::string_view progress_text);

// Whether the story is done according to the file alone: it passes, and was approved by a review or never reviewed.
bool is_done_in_archive(const Story& story);
size_t count_done_in_archive(const StoryList& tasks);

std::string summary_of(const PlanFacts& facts);

}  // namespace ralph
