#include "task/supervisor.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "json/value.h"
#include "os/environment.h"
#include "os/files.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

// Empty if there is no state folder.
std::string outer_lock(const TaskPlace& place) {
  const std::string state = project_state_folder(Environment::of_this_process(), place.folder());
  return state.empty() ? "" : join_path(state, "lock");
}

std::optional<Supervisor> owner_of(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd || ::flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  char buffer[4096];
  const ssize_t n = ::pread(fd.get(), buffer, sizeof buffer, 0);
  const auto owner = parse_json(std::string_view(buffer, n > 0 ? static_cast<size_t>(n) : 0), path);
  Supervisor supervisor;
  if (!owner) return supervisor;  // it has just started
  supervisor.run_id = find_string(*owner, "runId").value_or("");
  supervisor.since = find_string(*owner, "startTime").value_or("");
  supervisor.pid = static_cast<int>(find_integer(*owner, "pid").value_or(0));
  supervisor.loop = static_cast<int>(find_integer(*owner, "loop").value_or(0));
  return supervisor;
}

}  // namespace

std::string supervisor_line(const Supervisor& supervisor) {
  json::object owner;
  owner["runId"] = to_json_string(supervisor.run_id);
  owner["pid"] = supervisor.pid;
  owner["loop"] = supervisor.loop;
  owner["startTime"] = to_json_string(supervisor.since);
  return to_compact_json(owner) + "\n";
}

std::optional<Supervisor> supervisor_of(const TaskPlace& place) {
  if (auto inside = owner_of(place.lock())) return inside;
  const std::string outside = outer_lock(place);
  return outside.empty() ? std::nullopt : owner_of(outside);
}

Result<std::vector<Lock>> lock_task(const TaskPlace& place) {
  std::vector<Lock> locks;
  if (const std::string outside = outer_lock(place); !outside.empty()) {
    TRY(prepare_state_folder(parent_path(outside), "a task keeps its lock and its seal there"));
    TRY_VALUE(Lock lock, Lock::acquire(outside));
    locks.push_back(std::move(lock));
  }
  TRY_VALUE(Lock lock, Lock::acquire(place.lock()));
  locks.push_back(std::move(lock));
  return locks;
}

}  // namespace ralph
