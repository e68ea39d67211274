// summary.md of an archived plan: what was planned, what became of it, and what the reviews were worth. Pure.
#pragma once

#include <string>
#include <string_view>

#include "plan/stories.h"

namespace ralph {

struct PlanFacts {
  StoryList tasks;      // as much of it as can be read
  std::string problem;  // why that may not be all; empty: it is
  std::string started;  // "2026-11-10", or as somebody wrote it; empty: not known
  std::string ended;
};

// The facts of a tasks.json that need not be valid: what has another type than it should is left out. A plan is put
// away also when an agent has spoiled it.
PlanFacts facts_from(std::string_view tasks_text);

// What stands behind "Started:" in progress.txt, as a date if it begins with one; empty if nothing does.
std::string started_in(std::string_view progress_text);

// Done as far as a file can tell: it passes, and a review approved it or there were none.
bool is_done_in_archive(const Story& story);
size_t count_done_in_archive(const StoryList& tasks);

std::string summary_of(const PlanFacts& facts);

}  // namespace ralph
