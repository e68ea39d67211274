// The text of `ralph runs show` and `ralph runs list`. Pure: turns the view of a run into text. What an agent said is
// cut to one line, without control characters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ui/run_view.h"
#include "ui/style.h"

namespace ralph {

struct ShownRun {
  std::string id;
  std::string folder;  // as a user would type it
  RunView view;
  bool alive = false;
  std::vector<std::string> problems;  // with its journal
  bool torn = false;                  // the only problem is an unfinished last record
  std::string task{};                 // "project/task" of a supervised task
  std::string stuck{};                // why it can't be resumed here, though it ended incomplete
};

// Whether `ralph runs resume` can resume it.
bool is_resumable(const ShownRun& run);

// A heading (what, when, why), every iteration with its steps, their results and files, and the journal's problems.
std::string run_text(const ShownRun& run, const Style& style);

// One line per run, aligned. A task that works in a folder other than `project` is shown with that folder.
std::string run_table(std::span<const ShownRun> runs, const std::string& project, const Style& style);

// A line of the table as JSON.
json::object run_summary(const ShownRun& run);

}  // namespace ralph
