// What a journal says about its run as a whole, for lists of runs and tasks.
#pragma once

#include <optional>
#include <string>

#include "engine/progress.h"

namespace ralph {

struct Outline {
  std::optional<record::RunStarted> start;  // nullopt: it has not begun
  WallTime began{};                         // when its first record was written; the epoch: there is none
  Progress progress;

  bool is_over() const { return progress.status != StopStatus::kNone; }
};

// A journal that is missing or can't be read is an empty one. `folder`: the journal's.
Outline outline_of(const std::string& folder);

}  // namespace ralph
