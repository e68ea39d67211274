#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/inotify.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/file_watch.h"
#include "os/poll.h"

namespace ralph {

Status FileWatch::add(const std::string& path, Growth growth) {
  if (!inotify_) inotify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const std::string folder = parent_path(path);
  if (!inotify_) return fail(ErrorKind::kIo, "cannot watch {}: {}", folder, errno_text(errno));
  // Watches the folder: the file may not exist yet, and a rename over it would end a watch on the file.
  const unsigned events = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR |
                          IN_MASK_ADD | (growth == Growth::kWatched ? IN_MODIFY : 0U);
  const int watch = ::inotify_add_watch(inotify_.get(), folder.c_str(), events);
  if (watch < 0) return fail(ErrorKind::kIo, "cannot watch {}: {}", folder, errno_text(errno));
  folders_[watch] = folder;
  if (std::ranges::find(files_, path) == files_.end()) files_.push_back(path);
  return {};
}

std::vector<std::string> FileWatch::take_changes() {
  std::vector<std::string> changed;
  alignas(inotify_event) char bytes[4096];
  for (;;) {
    const ssize_t n = ::read(inotify_.get(), bytes, sizeof bytes);
    if (n <= 0) return changed;
    for (ssize_t at = 0; at < n;) {
      inotify_event change{};
      std::memcpy(&change, bytes + at, sizeof change);
      const char* name = bytes + at + sizeof change;
      at += static_cast<ssize_t>(sizeof change + change.len);
      if (change.len == 0 || !folders_.contains(change.wd)) continue;
      const std::string path = join_path(folders_[change.wd], name);
      const auto wanted = std::ranges::find_if(files_, [&](const std::string& file) {
        return file == path || join_path(parent_path(file), base_name(file)) == path;
      });
      if (wanted != files_.end()) changed.push_back(*wanted);
    }
  }
}

bool FileWatch::wait(std::optional<MonotonicTime> deadline) {
  const SystemClock clock;
  for (;;) {
    int timeout = -1;
    if (deadline)
      timeout = static_cast<int>(std::clamp<long long>((*deadline - clock.monotonic()).count(), 0, 1 << 30));
    pollfd waiting{inotify_.get(), POLLIN, 0};
    poll_or_look({&waiting, 1}, timeout);
    if (waiting.revents != 0 && !take_changes().empty()) return true;
    if (deadline && clock.monotonic() >= *deadline) return false;
  }
}

}  // namespace ralph
