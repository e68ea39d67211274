// If ralph dies, everything it started dies too. The process that the user started becomes the guardian; the loop runs
// in its child. Both are subreapers, and each notices the other's death:
//  - the loop is killed: the guardian adopts its orphans and ends them;
//  - the guardian is killed: the loop sees its channel close (GuardianLost), ends everything it has started and exits;
//  - somebody stops the loop (an agent with SIGSTOP): the guardian continues it, and ends the run if this recurs.
// Ctrl-Z stops the guardian and everything below it, and `fg` continues everything; the time between is not counted.
// The loop has its own session, so a signal to the process group of the terminal or the shell reaches only the
// guardian, which forwards it: the first Ctrl-C can't reach an agent directly. On the loop's request the guardian also
// starts jobs (os/jobs.h), which run next to the loop and end with it.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace ralph {

// Runs `body` guarded and returns its exit code, or 128 + signal if it was killed. `body` gets its end of a channel
// that closes when the guardian dies, and over which Jobs requests jobs. Returns only in the guardian; the child calls
// exit. If the guardian can't be set up, this fails without running `body`.
Result<int> run_guarded(const std::function<int(int guardian)>& body);

// The guardian's pid, for the loop: it does not change when the guardian is killed. 0 before run_guarded().
int guardian_pid();

// For the loop, after GuardianLost: ends everything it has started, reports that on standard error with `advice`, and
// exits.
[[noreturn]] void exit_without_guardian(std::string_view advice);

}  // namespace ralph
