// Long-lived helpers of a run: a language server, a proxy, a long check. A job is started by the guardian, on request
// of the loop, so it stands outside the tree that is swept after a turn. Each job has a keeper, a subreaper of its own:
// however a job forks, ending it ends all that it started, and nothing of another job.
//
//   loop (Jobs) --- channel ---> guardian --- fork ---> keeper ---> the job and all that it starts
//        ^------------- a socket of the job -------------'
//
// A job is over when its own process has exited; what it leaves behind is ended then, as after a turn. It dies with the
// run: by its own stop sequence if the loop ends, and by stop_abandoned() if the loop or the guardian is killed.
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
    66;  // at once: a task's child runs, a proxy and language servers; each counts until its end was taken
inline constexpr size_t kMaxJobNameBytes = 64;
inline constexpr size_t kMaxJobBytes = 8 << 20;          // arguments and environment; more than any kernel accepts
inline constexpr size_t kMaxJobStopSteps = 16;           // the last one must be SIGKILL
inline constexpr Milliseconds kMaxJobStopTime{600'000};  // all graces together
inline constexpr Milliseconds kMaxJobStartTime{20'000};  // a guardian that is stopped (Ctrl-Z) starts nothing

// Where a standard stream of a job goes to or comes from: a descriptor, which stays the caller's, or a file, which is
// appended to and created if it is output. Neither: nowhere, or the launch's `input`.
struct JobStream {
  int fd = -1;
  std::string path;
};

struct JobRequest {
  std::string name;  // for messages
  Launch launch;
  JobStream in, out, err;  // `err` is not looked at if the launch merges its streams
  StopSequence stop = stop_gently();
};

// The loop's side. No wait is unlimited, and every call fails once the guardian is gone.
class Jobs {
 public:
  // `guardian` is what run_guarded() gave to its body; it must stay open.
  explicit Jobs(int guardian);

  // Returns when the program runs. Fails as spawn() does, and if a limit above is exceeded.
  Result<JobId> start(const JobRequest& request);

  // Begins to end the job by its stop sequence; JobEnded follows.
  Status begin_to_end(JobId job);

  // Ends the job and waits for it. No JobEnded event follows.
  Result<JobEnded> end(JobId job);

  // How the job ended; nullopt: it has not. Takes no event away.
  Result<std::optional<ExitStatus>> state(JobId job) const;

  // Can be read, for poll(), while take_ended() has something. LinuxProcesses::watch_jobs() makes events of it.
  int descriptor() const { return ends_.get(); }
  std::vector<JobEnded> take_ended();

 private:
  struct Job {
    std::string name;
    Fd socket;  // of its keeper
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
