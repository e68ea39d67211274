#include "journal/run_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "json/value.h"
#include "os/files.h"
#include "os/process_tree.h"

namespace ralph {
namespace {

constexpr Milliseconds kLockPoll{20};

bool owner_is_dead(const Result<Lock>& lock) {
  if (lock || lock.error().kind != ErrorKind::kBusy) return false;
  const auto owner = owner_in(lock.error().message);
  return owner && owner->is_dead();
}

Result<Lock> take_lock(const std::string& path, Milliseconds patience) {
  auto lock = Lock::acquire(path);
  for (Milliseconds waited{0}; waited < patience && owner_is_dead(lock); waited += kLockPoll) {
    std::this_thread::sleep_for(kLockPoll);
    lock = Lock::acquire(path);
  }
  return lock;
}

std::optional<LockOwner> holder_of(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd || ::flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  char buffer[4096];
  const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
  return owner_in(std::string_view(buffer, n > 0 ? static_cast<size_t>(n) : 0)).value_or(LockOwner());
}

}  // namespace

bool LockOwner::is_dead() const {
  return pid > 0 && start_time_of(pid) == 0;
}

std::string line_of(const LockOwner& owner) {
  json::object line;
  line["runId"] = to_json_string(owner.run_id);
  line["pid"] = owner.pid;
  line["loop"] = owner.loop;
  line["startTime"] = to_json_string(owner.since);
  return to_compact_json(line) + "\n";
}

std::optional<LockOwner> owner_in(std::string_view line) {
  const auto parsed = parse_json(line, "lock");
  if (!parsed) return std::nullopt;
  LockOwner owner;
  owner.run_id = find_string(*parsed, "runId").value_or("");
  owner.since = find_string(*parsed, "startTime").value_or("");
  owner.pid = static_cast<int>(find_integer(*parsed, "pid").value_or(0));
  owner.loop = static_cast<int>(find_integer(*parsed, "loop").value_or(0));
  return owner;
}

std::optional<LockOwner> owner_of(const LockPlace& place) {
  auto inside = holder_of(place.inside);
  if (place.outside.empty() || (inside && !inside->run_id.empty())) return inside;
  auto outside = holder_of(place.outside);
  return outside ? outside : inside;
}

Result<std::vector<Lock>> take_locks(const LockPlace& place, Milliseconds patience) {
  std::vector<Lock> locks;
  if (!place.outside.empty()) {
    TRY(make_directories(parent_path(place.outside)));
    TRY_VALUE(Lock outside, take_lock(place.outside, patience));
    locks.push_back(std::move(outside));
  }
  TRY_VALUE(Lock inside, take_lock(place.inside, patience));
  locks.push_back(std::move(inside));
  return locks;
}

}  // namespace ralph
