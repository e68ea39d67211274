// Reports when files change, using inotify: nothing is polled.
//
//   FileWatch watch;
//   TRY(watch.add("/tasks/p/t/DONE"));
//   if (watch.wait(deadline)) … read the files again
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/files.h"

namespace ralph {

class FileWatch {
 public:
  // From now on changes of this file count: created, written and closed, renamed to or away, removed; with `growth`
  // also every write to it. Its folder must exist; the file need not.
  enum class Growth { kIgnored, kWatched };
  Status add(const std::string& path, Growth growth = Growth::kIgnored);

  // For poll(): readable while there are changes. -1 before the first add().
  int descriptor() const { return inotify_.get(); }

  // The paths that have changed since the last call, as passed to add(). Never blocks.
  std::vector<std::string> take_changes();

  // Waits for a change; false after the deadline. nullopt: no deadline.
  bool wait(std::optional<MonotonicTime> deadline);

 private:
  Fd inotify_;
  std::map<int, std::string> folders_;  // by watch
  std::vector<std::string> files_;
};

}  // namespace ralph
