// Raises SIGIO when something is created, renamed or removed in a folder. Unlike FileWatch it reports neither which
// file, nor writes to a file. But it costs nothing to stop, whereas closing an inotify descriptor blocks in the kernel
// for about 10 ms. And it is not limited in number, whereas a user often has only 128 inotify instances.
#pragma once

#include <string>
#include <vector>

#include "os/files.h"

namespace ralph {

class FolderSignals {
 public:
  // May be called again for a folder that was removed and recreated. False if the kernel does not support it. SIGIO
  // must already be blocked or handled.
  bool add(const std::string& folder);

 private:
  std::vector<std::pair<std::string, Fd>> folders_;
};

}  // namespace ralph
