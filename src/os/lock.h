// A lock that never outlives its process: flock on a file whose only line names the owner.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/files.h"

namespace ralph {

class Lock {
 public:
  // Fails with kBusy and the owner's line as the message if another process holds it.
  static Result<Lock> acquire(const std::string& path);

  // Sets the owner's line.
  Status name_owner(std::string_view line);

 private:
  Lock(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
};

}  // namespace ralph
