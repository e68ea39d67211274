// A lock that lives exactly as long as the process that holds it: flock on a file, with a line in it that tells
// others who holds it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/files.h"

namespace ralph {

class Lock {
 public:
  // Fails with kBusy, and the owner's line as the message, if another process holds it.
  static Result<Lock> acquire(const std::string& path, std::string_view owner);

 private:
  explicit Lock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ralph
