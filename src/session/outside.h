// A loop in one session of a host that has no hooks: driven from outside, turn by turn, each resuming the session of
// the one before. The same contract, the same promise, the same rules.
#pragma once

#include "engine/attempts.h"
#include "session/loop_state.h"

namespace ralph {

// Runs to the end, which is always recorded. `agent` must be able to resume a session.
Result<Decision> run_session_loop(RunContext& context, const Agent& agent, const LoopRequest& request, bool events);

}  // namespace ralph
