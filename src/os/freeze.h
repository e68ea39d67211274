// Stops all descendants of this process, a subreaper, before they are killed: what stands still can be killed without
// haste. The hard case are processes that fork and exit in turn (a relay): whoever is on a list has ended before its
// signal is sent.
#pragma once

#include <vector>

#include "os/process_tree.h"

namespace ralph {

// Stops the processes of a list that child_pids() gave, and with each of them its process group. The kernel stops a
// group in one go, forks under way included, and an ended child that nobody has reaped keeps the number of its group
// from being given away. So a relay that stays in its group is caught however old the list is. Groups of this process's
// own session, and those of bystanders, have strangers in them: there only the child is stopped.
void stop_with_groups(const std::vector<int>& children, const Bystanders& bystanders = {});

// Goes on until nothing moves any more; a relay that opens a new group for each of its processes is caught when one of
// them is signalled in its life, which is tried as often as time allows. Gives up after a fifth of a second: a sweep
// begins again, after it has killed what it has found. Ended children are reaped, so that those that live are soon
// found, but for `awaited`, whose exit code its owner wants.
void freeze_descendants(int awaited, const Bystanders& bystanders = {});

}  // namespace ralph
