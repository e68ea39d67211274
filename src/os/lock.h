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
  static Result<Lock> acquire(const std::string& path);

  // Writes the line that others are shown.
  Status name_owner(std::string_view line);

 private:
  Lock(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
};

}  // namespace ralph
