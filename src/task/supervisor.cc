#include "task/supervisor.h"

#include "os/environment.h"
#include "os/files.h"
#include "settings/ralph_folder.h"

namespace ralph {

LockPlace locks_of(const TaskPlace& place) {
  return {place.lock(), outer_lock(Environment::of_this_process(), place.folder())};
}

std::optional<LockOwner> supervisor_of(const TaskPlace& place) {
  return owner_of(locks_of(place));
}

Result<std::vector<Lock>> lock_task(const TaskPlace& place) {
  const LockPlace locks = locks_of(place);
  if (!locks.outside.empty())
    TRY(prepare_state_folder(parent_path(locks.outside), "a task keeps its lock and its seal there"));
  return take_locks(locks);
}

}  // namespace ralph
