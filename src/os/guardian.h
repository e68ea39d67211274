// If ralph dies, everything it started dies too. The process that the user started becomes the guardian; the loop runs
// in its child. Both are subreapers and each notices the other's death:
//  - the loop is killed: the guardian adopts its orphans and ends them;
//  - the guardian is killed: the loop sees its channel close (GuardianLost), ends what it has started and exits.
//  - somebody stops the loop (an agent by SIGSTOP): the guardian lets it go on, and ends the run if that never ends.
// Ctrl-Z stops the guardian and everything below it, and `fg` lets all go on; the time between is not counted.
// The loop has its own session, so a signal to the process group of the terminal or the shell reaches only the
// guardian, which forwards it. The first Ctrl-C can't reach an agent directly. On the loop's request the guardian also
// starts jobs (os/jobs.h), which stand beside the loop and end with it.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace ralph {

// Runs `body` guarded and returns its exit code, or 128 + signal if it was killed. `body` gets its end of a channel
// that closes when the guardian dies, and on which Jobs asks for jobs. Returns only in the guardian; the child calls
// exit. Fails if no guardian can be set up; `body` was not run then.
Result<int> run_guarded(const std::function<int(int guardian)>& body);

// The guardian's pid, for the loop: it stays the same when the guardian has been killed. 0 before run_guarded().
int guardian_pid();

// For the loop, after GuardianLost: ends all that it has started, says so on standard error with `advice`, and exits.
[[noreturn]] void exit_without_guardian(std::string_view advice);

}  // namespace ralph
