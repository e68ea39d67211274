// The guardian's side of jobs: it starts a keeper for each and has it end its job. All that a job says goes past the
// guardian, straight to the loop.
#pragma once

#include <cstdint>
#include <map>
#include <sys/types.h>

#include "base/time.h"
#include "os/job_messages.h"
#include "os/keeper.h"
#include "os/packets.h"

namespace ralph {

class Keepers {
 public:
  // Does what a packet of the loop asks for. A start that fails is told to the loop over the job's socket.
  void obey(Packet packet);

  bool empty() const { return keepers_.empty(); }
  bool has(pid_t pid) const;
  void forget(pid_t pid);  // it was reaped

  // Has all jobs end by their own stop sequences, and says how long that may take.
  Milliseconds end_all();
  // Has all jobs end at once, as if the guardian had died.
  void abandon_all();

 private:
  struct Keeper {
    pid_t pid;
    Fd held;  // closing it abandons the job
    Milliseconds stop_time;
  };

  Status start(const JobOrder& order, KeeperFiles files);
  static void end(const Keeper& keeper);

  std::map<std::uint32_t, Keeper> keepers_;
};

}  // namespace ralph
