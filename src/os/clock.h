// The only place that reads a clock. Rules never do: they get the time as a value.
#pragma once

#include "base/time.h"

namespace ralph {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual MonotonicTime monotonic() const = 0;  // counts neither the machine's sleep nor a pause by Ctrl-Z
};

// Pauses are counted in memory that a process shares with all that it forks after share_pauses(). Before that, and
// where there is no such memory, nothing is counted.
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
