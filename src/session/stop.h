// A session in a loop wants to stop: what it said and did since it was last asked, what decide() makes of that, and the
// state that follows.
#pragma once

#include <optional>
#include <string>

#include "os/environment.h"
#include "session/loop_store.h"

namespace ralph {

// A host's session that wants to end, as its hook tells it. What a host does not tell is empty.
struct StopRequest {
  std::string session;
  std::string transcript_path;
  std::optional<std::string> last_message{};  // the assistant's last words
  std::optional<std::string> all_words{};     // all that it said since the user's prompt, with pieces of it twice
  int background_tasks = 0;                   // that still run
};

struct StopAnswer {
  LoopState state;  // as it was written
  Decision decision;
  std::string continuation;  // for the model, if it goes on
};

// Nothing if the session has no active loop in this store.
Result<std::optional<StopAnswer>> judge_stop(LoopStore& store, const StopRequest& request,
                                             const Environment& environment);

}  // namespace ralph
