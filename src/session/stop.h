// Handles the stop of a session in a loop: collects what the session said and did since its last stop, asks for a
// decision, and records the new state.
#pragma once

#include <optional>
#include <string>

#include "os/environment.h"
#include "session/loop_store.h"

namespace ralph {

// A host's session that wants to stop, as reported by its hook. Empty fields were not reported.
struct StopRequest {
  std::string session;
  std::string transcript_path;
  std::optional<std::string> last_message{};    // the assistant's last message
  std::optional<std::string> all_words{};       // all it said since the user's prompt; parts may occur twice
  std::vector<std::string> background_tasks{};  // ids of those still running
  std::string prompt_id{};                      // of the user's line that the session is working on
  bool calls_counted = false;                   // the post-tool hook has counted every call
  WallTime (*called)() = nullptr;               // when the host called the hook; only needed in doubt
  Milliseconds patience{0};                     // how long the host may be kept waiting for checks
};

struct StopAnswer {
  LoopState state;  // as recorded
  Decision decision;
  std::string continuation;  // for the model, if the session continues
  std::string summary{};     // of a completed loop with criteria
  std::string report;        // protected files that changed since the last stop; empty: none
};

// nullopt if the session has no active loop in this store. Runs the loop's checks if the decision needs them; while
// they run, no lock is held.
Result<std::optional<StopAnswer>> judge_stop(LoopStore& store, const StopRequest& stop, const Environment& environment);

}  // namespace ralph
