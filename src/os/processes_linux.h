// Processes on Linux: a subreaper with signalfd, pipes, inotify and one poll().
#pragma once

#include <deque>
#include <vector>

#include "os/clock.h"
#include "os/file_watch.h"
#include "os/folder_signals.h"
#include "os/outlet.h"
#include "os/processes.h"
#include "os/sweep.h"

namespace ralph {

class Jobs;

class LinuxProcesses : public Processes {
 public:
  // Takes over SIGINT, SIGTERM, SIGQUIT, SIGHUP (unless inherited as ignored, as under nohup), SIGIO and SIGCHLD for
  // this process, and makes it a subreaper. `guardian` closes when the guardian dies, and is never read; -1: none.
  explicit LinuxProcesses(const Clock& clock, int guardian = -1);
  ~LinuxProcesses() override;

  Status start(const Launch& launch) override;
  Event next(std::optional<MonotonicTime> deadline) override;
  void end(const StopSequence& sequence) override;
  Status watch_file(const std::string& path) override;

  int child() const override { return pid_; }

  // Takes over a child that was started on its own streams: as after start(), but without Output.
  void adopt(int pid);

  // From now on its pending bytes are written while next() waits. It must outlive this object.
  void serve(Outlet& outlet) { outlets_.push_back(&outlet); }

  // From now on the end of a job causes JobEnded. `jobs` must outlive this object.
  void watch_jobs(Jobs& jobs) { jobs_ = &jobs; }

  // From now on DescriptorReady is returned while `fd` is readable; the receiver must read it. The caller keeps
  // ownership.
  void watch_descriptor(int fd) { watched_ = fd; }

 private:
  void collect_signals();
  void collect_file_changes();
  void collect_ended_jobs();
  void collect_ended_children();
  std::optional<Event> read_output(Fd& pipe, StreamName stream);
  bool advance_ending();  // true: nothing is left, or nothing more can be done
  Remaining look(int signal);
  std::optional<MonotonicTime> wake_up_time(std::optional<MonotonicTime> deadline) const;
  void handle_failed_wait(int error);
  void begin(Spawned spawned);
  Event finish();

  const Clock& clock_;
  Fd signals_;
  int signals_error_ = 0;
  int failed_waits_ = 0;   // in a row
  bool reported_ = false;  // WaitFailed
  FolderSignals folders_;
  std::vector<std::string> files_in_folders_;  // covered by folders_
  FileWatch files_;                            // for files that folders_ can't cover
  int guardian_;
  int parent_;  // the guardian, if there is one
  Jobs* jobs_ = nullptr;
  int watched_ = -1;
  std::vector<Outlet*> outlets_;

  int pid_ = 0;          // the child; 0 once reaped
  bool active_ = false;  // between start() and Finished
  Fd out_, err_;
  std::optional<Sweep> ending_;
  SweepReport swept_;                        // how it ended
  bool child_lives_ = false;                 // it could not be ended
  std::vector<ProcessInfo> survivors_;       // of earlier sweeps; not signalled again
  bool unseen_ = false;                      // the same for processes that /proc does not show
  std::optional<MonotonicTime> drain_ends_;  // all have ended, but an outside process still holds a pipe open
  size_t drain_left_ = 0;                    // bytes that may still be read from it
  std::vector<char> buffer_;
  std::deque<Event> waiting_;
};

}  // namespace ralph
