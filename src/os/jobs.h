// Long-lived helpers of a run: a language server, a proxy, a long check. The guardian starts a job at the loop's
// request, so the job is outside the tree that is swept after a turn. Each job has a keeper, its own subreaper: however
// a job forks, ending it ends everything it started, and nothing of another job.
//
//   loop (Jobs) --- channel ---> guardian --- fork ---> keeper ---> the job and everything it starts
//        ^--------------- the job's socket --------------'
//
// A job is over when its own process has exited; whatever it leaves behind is ended then, as after a turn. It dies with
// the run: by its own stop sequence if the loop ends, and by stop_abandoned() if the loop or the guardian is killed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/launch.h"
#include "os/processes.h"

namespace ralph {

inline constexpr size_t kMaxJobs =
    66;  // at once: a task's child runs, a proxy and language servers; a job counts until its end is taken
inline constexpr size_t kMaxJobNameBytes = 64;
inline constexpr size_t kMaxJobBytes = 8 << 20;          // arguments and environment; more than any kernel accepts
inline constexpr size_t kMaxJobStopSteps = 16;           // the last one must be SIGKILL
inline constexpr Milliseconds kMaxJobStopTime{600'000};  // all graces together
inline constexpr Milliseconds kMaxJobStartTime{20'000};  // a guardian that is stopped (Ctrl-Z) starts nothing

// Where a standard stream of a job goes to or comes from: a descriptor, which the caller keeps, or a file; an output
// file is created if missing, and appended to. With neither, output is discarded and input is the launch's `input`.
struct JobStream {
  int fd = -1;
  std::string path;
};

struct JobRequest {
  std::string name;  // for messages
  Launch launch;
  JobStream in, out, err;  // `err` is ignored if the launch merges its streams
  StopSequence stop = stop_gently();
};

// The loop's side. Every wait is limited, and every call fails once the guardian is gone.
class Jobs {
 public:
  // `guardian` is the descriptor that run_guarded() passed to its body; it must stay open.
  explicit Jobs(int guardian);

  // Returns once the program is running. Fails as spawn() does, and if a limit above is exceeded.
  Result<JobId> start(const JobRequest& request);

  // Starts the job's stop sequence; JobEnded follows.
  Status request_end(JobId job);

  // Ends the job and waits for it. No JobEnded event follows.
  Result<JobEnded> end(JobId job);

  // How the job ended; nullopt: it is still running. Consumes no event.
  Result<std::optional<ExitStatus>> state(JobId job) const;

  // For poll(): readable while take_ended() has something. LinuxProcesses::watch_jobs() turns it into events.
  int descriptor() const { return ends_.get(); }
  std::vector<JobEnded> take_ended();

 private:
  struct Job {
    std::string name;
    Fd socket;  // to its keeper
    Milliseconds stop_time;
  };

  Status listen_to(int socket, JobId job);
  void stop_listening(int socket);
  Result<Job*> running(JobId job);
  JobEnded take_end(JobId job);  // must have ended

  int guardian_;
  Fd ends_;  // an epoll of the sockets of all jobs
  unsigned last_ = 0;
  std::map<JobId, Job> jobs_;
  std::map<JobId, ExitStatus> ended_;
};

}  // namespace ralph
