// Tells by SIGIO that something was made, renamed or removed in a folder. It says neither what, nor that a file was
// written, as a FileWatch does. But its end costs nothing, where closing an inotify descriptor waits for the kernel for
// some 10 ms, and there may be any number of them, where a user often has 128 inotify descriptors.
#pragma once

#include <string>
#include <vector>

#include "os/files.h"

namespace ralph {

class FolderSignals {
 public:
  // Also again, for a folder that was removed and made anew. False if the kernel can't do it. SIGIO must be blocked or
  // handled before.
  bool add(const std::string& folder);

 private:
  std::vector<std::pair<std::string, Fd>> folders_;
};

}  // namespace ralph
