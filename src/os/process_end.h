// Waits for the end of a process that is not our child, or must not be reaped yet.
#pragma once

#include "base/time.h"
#include "os/files.h"
#include "os/process_tree.h"

namespace ralph {

// For poll(): readable once the process has ended. Invalid: it has already ended, or the kernel can't report it.
Fd when_ended(const ProcessInfo& process);

// True for a zombie too.
bool has_ended(const ProcessInfo& process);

// False: it is still running at `until`.
bool wait_for_end(const ProcessInfo& process, MonotonicTime until);

}  // namespace ralph
