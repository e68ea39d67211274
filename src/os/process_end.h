// The end of a process that is nobody's child here, or not to be reaped yet.
#pragma once

#include "base/time.h"
#include "os/files.h"
#include "os/process_tree.h"

namespace ralph {

// Can be read, for poll(), once the process has ended. Invalid: it has ended already, or the kernel can't tell.
Fd when_ended(const ProcessInfo& process);

// A zombie has ended.
bool has_ended(const ProcessInfo& process);

// False: it still runs at `until`.
bool wait_for_end(const ProcessInfo& process, MonotonicTime until);

}  // namespace ralph
