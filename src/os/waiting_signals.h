// Signals that a process has blocked, to read them from a queue, and that are still waiting there.
#pragma once

namespace ralph {

// Whether one that asks for an end waits: SIGINT, SIGTERM, SIGHUP or SIGQUIT. It goes on waiting.
bool stop_signal_waits();

}  // namespace ralph
