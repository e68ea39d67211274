// Signals that a process has blocked in order to read them from a queue, and that are still pending.
#pragma once

namespace ralph {

// Whether a signal that asks the process to end is pending: SIGINT, SIGTERM, SIGHUP or SIGQUIT. It stays pending.
bool stop_signal_is_pending();

}  // namespace ralph
