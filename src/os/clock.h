// The only place that reads a clock. Rules never do: they get the time as a value.
#pragma once

#include "base/time.h"

namespace ralph {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual MonotonicTime monotonic() const = 0;  // excludes system sleep and pauses by Ctrl-Z
};

// Pauses are counted in memory that a process shares with everything it forks after share_pauses(). Before that call,
// or if the memory can't be mapped, nothing is counted.
void share_pauses();
void add_pause(Milliseconds length);
Milliseconds paused_so_far();

class SystemClock : public Clock {
 public:
  WallTime wall() const override {
    return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
  }
  MonotonicTime monotonic() const override {
    return std::chrono::time_point_cast<Milliseconds>(std::chrono::steady_clock::now()) - paused_so_far();
  }
};

}  // namespace ralph
