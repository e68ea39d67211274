// Finds what a session said and did since its last stop, from the host's report and the unread part of the transcript.
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
  bool cancelled = false;  // the user typed a cancel, which waits in the host's queue
};

// The path of the transcript: as reported by the host, else the known one.
std::string transcript_of(const Progress::Host& host, const StopRequest& stop);

// Continues reading where the last stop ended, and records the new position in `seen`. `last_record` is the time of the
// loop's last record before this stop: earlier lines of a transcript that is new to the loop are skipped.
Since look_back(Observation::Session& seen, const LoopRequest& request, const Progress& progress,
                const StopRequest& stop, WallTime last_record);

// Waits for the host to finish writing. Call it before locking, so that a cancel need not wait.
void await_host(const LoopStore& store, const StopRequest& stop);

// Whether another hook has already reported this stop and got the decision.
bool is_reported_already(const Progress& progress, const Observation::Session& seen, const StopRequest& stop);

}  // namespace ralph
