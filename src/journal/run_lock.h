// The locks of a run, which say who works in a folder. One is in the folder itself. The other is in the state folder,
// and survives if an agent removes the first. Each lock's only line names its owner.
//
//   TRY_VALUE(std::vector<Lock> locks, take_locks(place, kDyingOwnerWait));  // if kBusy: owner_in(error.message)
//   for (Lock& lock : locks) TRY(lock.name_owner(line_of(owner)));
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "os/lock.h"

namespace ralph {

struct LockPlace {
  std::string inside, outside;  // the two files; `outside` is empty if there is no state folder
};

struct LockOwner {
  std::string run_id, since;
  int pid = 0, loop = 0;  // the process that the user started and may end, and the one that holds the lock

  bool is_dead() const;  // the first of them; the other may still be ending what it has started
};

// The line in the lock.
std::string line_of(const LockOwner& owner);
std::optional<LockOwner> owner_in(std::string_view line);

// Who holds a lock there; nullopt if nobody does. Everything is empty if the owner has only just taken it.
std::optional<LockOwner> owner_of(const LockPlace& place);

// How long a loop whose guardian was killed may take to end its agent.
inline constexpr Milliseconds kDyingOwnerWait{5'000};

// Takes both locks. Fails with kBusy and the owner's line if another process holds one. Waits up to `patience` for a
// process whose owner is dead. Without a state folder, the lock inside has to do.
Result<std::vector<Lock>> take_locks(const LockPlace& place, Milliseconds patience = {});

}  // namespace ralph
