// Something that writes to a reader who may be slow. Whoever waits for events (LinuxProcesses) also waits for room, so
// that writing never delays anything else.
#pragma once

namespace ralph {

class Outlet {
 public:
  virtual ~Outlet() = default;

  // What is to be written to when it has room; -1: nothing waits.
  virtual int wants_room() const = 0;
  virtual void write_on() = 0;  // there is room
};

}  // namespace ralph
