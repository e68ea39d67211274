// The only place that reads a clock. Rules never do: they get the time as a value.
#pragma once

#include "base/time.h"

namespace ralph {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual MonotonicTime monotonic() const = 0;
};

class SystemClock : public Clock {
 public:
  WallTime wall() const override {
    return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
  }
  MonotonicTime monotonic() const override {
    return std::chrono::time_point_cast<Milliseconds>(std::chrono::steady_clock::now());
  }
};

}  // namespace ralph
