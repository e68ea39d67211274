// Ends processes by a stop sequence, one step at a time, so that its owner can go on reading their output meanwhile.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "os/control_group.h"
#include "os/process_tree.h"

namespace ralph {

// One look at what is still to be ended.
struct Remaining {
  std::vector<ProcessInfo> living;
  bool unseen = false;  // something is left, and /proc does not show what
  bool none() const { return living.empty() && !unseen; }
};

class Sweep {
 public:
  // `look` is called at most every 20 ms, with the signal that will be sent to what it finds.
  Sweep(StopSequence sequence, std::function<Remaining(int signal)> look);

  // Begins again with another sequence; what was signalled stays known.
  void restart(StopSequence sequence);

  // Signals what is to be signalled now. True: nothing is left, or the sequence is over. The time of a step is up even
  // if nothing can be seen: a process that /proc hides must not make anybody wait for ever.
  bool advance(MonotonicTime now);

  // The next advance() looks again, however short it is since the last.
  void look_soon() { next_look_ = {}; }

  // Tells it that nothing is left, if the owner knows without a look.
  void all_have_ended() { left_ = {}; }

  // When it is over.
  SweepReport report() const;

 private:
  void signal_all(int signal, bool first_look);
  void kill_by_group();

  StopSequence sequence_;
  std::function<Remaining(int signal)> look_;
  size_t step_ = 0;
  bool step_begun_ = false;
  MonotonicTime step_ends_{}, next_look_{};
  std::map<int, ProcessInfo> signalled_;
  Remaining left_;
  std::optional<KillGroup> group_;  // made when something has to be killed
};

}  // namespace ralph
