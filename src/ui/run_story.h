// A run told to people after the fact: `ralph runs show` and `ralph runs list`. Pure: from the view of a run to text.
// Whatever an agent wrote is cut to one line and cannot reach the terminal as control characters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ui/run_view.h"
#include "ui/style.h"

namespace ralph {

struct ToldRun {
  std::string id;
  std::string folder;  // as people can type it
  RunView view;
  bool alive = false;
  std::vector<std::string> problems;  // what is wrong with its journal
};

// A head that says what, when and why; every iteration with its steps, their results and files; what is damaged.
std::string run_story(const ToldRun& run, const Style& style);

// One line per run, aligned.
std::string run_table(std::span<const ToldRun> runs, const Style& style);

// What a line of the table says, for programs.
json::object run_summary(const ToldRun& run);

}  // namespace ralph
