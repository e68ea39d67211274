// A session in a loop wants to stop: what it said and did since it was last asked, what decide() makes of that, and the
// state that follows.
#pragma once

#include <optional>
#include <string>

#include "os/environment.h"
#include "session/loop_store.h"
#include "session/payload.h"

namespace ralph {

struct StopAnswer {
  LoopState state;  // as it was written
  Decision decision;
  std::string continuation;  // for the model, if it goes on
};

// Nothing if the session has no active loop in this store.
Result<std::optional<StopAnswer>> judge_stop(LoopStore& store, const HookPayload& payload,
                                             const Environment& environment);

}  // namespace ralph
