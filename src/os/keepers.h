// The guardian's side of jobs: it starts a keeper for each job and tells it when to end the job. A job's messages
// bypass the guardian and go straight to the loop.
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
  // Carries out the request in a packet from the loop. A failed start is reported to the loop over the job's socket.
  void carry_out(Packet packet);

  bool empty() const { return keepers_.empty(); }
  bool has(pid_t pid) const;
  void forget(pid_t pid);  // after it was reaped

  // Tells all jobs to end by their own stop sequences, and returns how long that may take.
  Milliseconds end_all();
  // Tells all jobs to end at once, as if the guardian had died.
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
