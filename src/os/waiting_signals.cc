#include "os/waiting_signals.h"

#include <signal.h>

namespace ralph {

bool stop_signal_is_pending() {
  sigset_t pending;
  if (::sigpending(&pending) != 0) return false;
  return ::sigismember(&pending, SIGINT) == 1 || ::sigismember(&pending, SIGTERM) == 1 ||
         ::sigismember(&pending, SIGHUP) == 1 || ::sigismember(&pending, SIGQUIT) == 1;
}

}  // namespace ralph
