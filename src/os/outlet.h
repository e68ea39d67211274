// Something that writes to a reader who may be slow. The event loop (LinuxProcesses) also waits for room, so writing
// never delays anything else.
#pragma once

namespace ralph {

class Outlet {
 public:
  virtual ~Outlet() = default;

  // The descriptor to write to as soon as it has room; -1: nothing is pending.
  virtual int pending_stdin_fd() const = 0;
  virtual void write_on() = 0;  // there is room
};

}  // namespace ralph
