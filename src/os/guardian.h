// If ralph dies, what it started dies too. The process that the user started becomes the guardian; the loop runs in a
// child of it. Both are subreapers and each notices the other's death:
//  - the loop is killed: its orphans become the guardian's, which ends them;
//  - the guardian is killed: the loop sees its pipe close (GuardianLost), ends the agent and stops.
// The loop has a session of its own, so a signal to the terminal's or the shell's process group reaches the guardian
// alone, which passes it on; the first Ctrl-C can't reach an agent by itself.
#pragma once

#include <functional>

#include "base/result.h"

namespace ralph {

// Runs `body` guarded and returns its exit code, or 128 + signal if it was killed. `body` gets the read end of a pipe
// that closes when the guardian dies. Returns in the guardian only; the child leaves by exit. Fails if there can be no
// guardian: then nothing was run.
Result<int> run_guarded(const std::function<int(int guardian)>& body);

}  // namespace ralph
