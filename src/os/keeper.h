// The keeper of one job (os/jobs.h): a process between the guardian and the job. As a subreaper it adopts whatever the
// job leaves behind, so "the job and everything it started" are exactly its descendants. It starts the job and ends it:
// on SIGTERM by the job's stop sequence, or by stop_abandoned() when the guardian releases it or dies. Then it reports
// to the loop how the job ended, and exits. If the keeper itself is killed, the kernel kills the job and the guardian
// ends the rest.
#pragma once

#include "os/files.h"

namespace ralph {

struct KeeperFiles {
  Fd socket;   // to the loop
  Fd request;  // a file with the encoded JobRequest
  Fd in, out, err;
  Fd guardian;  // closes when the guardian releases this job, or dies
};

// Becomes the keeper; call it in a process just forked from the guardian, with the guardian's signals still blocked.
// Keeps no other descriptor open: a copy of one of the guardian's ends would hide its death from the other processes.
[[noreturn]] void keep_job(KeeperFiles files);

}  // namespace ralph
