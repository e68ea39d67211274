// Waiting: poll() for descriptors whose reads and writes do not block, and sleeping between two looks.
#pragma once

#include <poll.h>
#include <span>

#include "base/time.h"

namespace ralph {

// How long to sleep between two checks if poll() is refused.
inline constexpr Milliseconds kRefusedPollPause{20};

// For what can't be awaited; a signal ends it early.
void sleep_for(Milliseconds time);

// Waits for at most `timeout` milliseconds; -1: forever. If the kernel refuses to wait (no memory, a lowered limit of
// open files, a seccomp profile), it sleeps a moment and reports every descriptor as ready, so the caller checks all of
// them: slower, but nothing spins and nothing hangs. Returns 0, or the errno of the refusal. Interruption by a signal
// handler is not a refusal: then nothing is ready.
int poll_or_look(std::span<pollfd> fds, int timeout);

// Waits until a descriptor is readable or its other end is closed; false after the deadline. If poll() is refused, only
// a socket can be found to have no data.
bool wait_readable(int fd, MonotonicTime deadline);

}  // namespace ralph
