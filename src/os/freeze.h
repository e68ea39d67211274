// Stops all descendants of this process, a subreaper, before they are killed: stopped processes can be killed without a
// race. The hard case is processes that fork and exit in turn (a relay): every pid on a list is gone before its signal
// is sent.
#pragma once

#include <vector>

#include "os/process_tree.h"

namespace ralph {

// Stops the processes of a list from child_pids(), each together with its process group. The kernel stops a group
// atomically, including forks in progress, and an unreaped zombie keeps its group id from being reused. So a relay that
// stays in its group is caught however old the list is. Groups in this process's own session, and those of bystanders,
// contain unrelated processes: there only the child is stopped.
void stop_with_groups(const std::vector<int>& children, const Bystanders& bystanders = {});

// Continues until nothing moves any more. A relay that opens a new group for each of its processes is caught when one
// of them is signalled while it lives; this is tried as often as time allows. Gives up after a fifth of a second: the
// sweep kills what it has found and starts again. Ended children are reaped so that living ones are found soon, except
// `awaited`, whose exit code its owner wants.
void freeze_descendants(int awaited, const Bystanders& bystanders = {});

}  // namespace ralph
