// What became of a loop since it began: a line of JSON for each decision, with all of the state that has changed. A
// host waits at every stop, so a stop appends one line and reads the last; nothing is written anew. Specified in
// docs/formats/loop.md.
#pragma once

#include <string>
#include <vector>

#include "session/loop_state.h"

namespace ralph {

class LoopLog {
 public:
  explicit LoopLog(std::string path) : path_(std::move(path)) {}

  // The state as its last whole line says. A line that was cut off is as if it were not there.
  void apply_last(LoopState& state) const;

  // The state as it is now; `decision` may be empty, and its time is that of the state.
  Status append(const LoopState& state, const LoopDecision& decision) const;

  std::vector<LoopDecision> decisions() const;

 private:
  std::string path_;
};

}  // namespace ralph
