// What a session said and did since its last stop, from what the host reported and from the transcript, as far as it is
// unread.
#pragma once

#include "session/stop.h"

namespace ralph {

enum class Said { kNothing, kMention, kPromise };

// What happened since the last stop.
struct Since {
  Said said = Said::kNothing;
  std::string last_words;
  bool late = false;  // the promise of the last message is not in the transcript yet
  bool calls_known = false;
  bool cancelled = false;  // the user typed it, and it waits in the host's queue
};

// The transcript to read on in: where it is if the host does not say another.
std::string transcript_of(const Progress::Host& host, const StopRequest& stop);

// Continues where the last stop ended, and notes in `seen` how far it read. `heard` is when the loop was last heard of
// before this stop: what a transcript that is new to the loop says of earlier times is skipped.
Since look_back(Observation::Session& seen, const LoopRequest& request, const Progress& progress,
                const StopRequest& stop, WallTime heard);

// Waits for the host to finish writing. Called before locking, so that a cancel need not wait.
void await_host(const LoopStore& store, const StopRequest& stop);

// Whether another hook has reported this stop, which has got its decision then.
bool is_reported_already(const Progress& progress, const Observation::Session& seen, const StopRequest& stop);

}  // namespace ralph
