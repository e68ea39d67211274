// poll() for descriptors whose reads and writes do not block.
#pragma once

#include <poll.h>
#include <span>

#include "base/time.h"

namespace ralph {

// How long to sleep between two looks where poll() is refused.
inline constexpr Milliseconds kLookMoment{20};

// Waits for `timeout` milliseconds at most; -1: without end. If the kernel refuses to wait (no memory, a lowered limit
// of open files, a seccomp profile), it sleeps a moment and calls every descriptor ready, so that the caller looks at
// all of them: slower, but nothing spins and nothing hangs. Returns 0, or why it was refused. A signal handler that ran
// is no refusal: then nothing is ready.
int poll_or_look(std::span<pollfd> fds, int timeout);

// Waits until a descriptor can be read or its other end is closed; false after the deadline. Where poll() is refused,
// only a socket can be told to be silent.
bool wait_readable(int fd, MonotonicTime deadline);

}  // namespace ralph
