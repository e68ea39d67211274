// Ends processes by a stop sequence, one step at a time, so the owner can keep reading their output meanwhile.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "os/control_group.h"
#include "os/process_tree.h"

namespace ralph {

// One snapshot of what is still to be ended.
struct Remaining {
  std::vector<ProcessInfo> living;
  bool unseen = false;  // something is left that /proc does not show
  bool none() const { return living.empty() && !unseen; }
};

class Sweep {
 public:
  // `look` is called at most every 20 ms, with the signal that will be sent to the processes it finds.
  Sweep(StopSequence sequence, std::function<Remaining(int signal)> look);

  // Starts again with another sequence; the record of signalled processes is kept.
  void restart(StopSequence sequence);

  // Sends the signals that are due. True: nothing is left, or the sequence is over. A step ends on time even if nothing
  // can be seen: a process that /proc hides must not make anybody wait forever.
  bool advance(MonotonicTime now);

  // The next advance() calls `look` again, however recent the last call was.
  void look_soon() { next_look_ = {}; }

  // For an owner that knows, without a check, that nothing is left.
  void all_have_ended() { left_ = {}; }

  // Valid once the sweep is over.
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
  std::optional<KillGroup> group_;  // created when something has to be killed
};

}  // namespace ralph
