// Runs one contained child process at a time and waits for the next event. The wait blocks: nothing is polled, and a
// quiet child causes no wake-up.
//
//   processes.start(launch);
//   for (;;) {
//     const Event event = processes.next(deadline);   // output, exit, signal, deadline, ...
//     if (std::holds_alternative<Finished>(event)) break;
//   }
// After the child has exited, everything it left behind is ended while output is still read. Finished follows, as the
// last event of a start().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "os/launch.h"
#include "os/process_tree.h"

namespace ralph {

struct ExitStatus {
  int code = 0;
  int signal = 0;  // not 0: killed by this signal, and `code` is 128 + signal
  bool success() const { return code == 0 && signal == 0; }
};

enum class StreamName { kOut, kErr };

struct Output {
  StreamName stream;
  std::string_view bytes;  // valid until the next call to next()
};
struct Exited {
  ExitStatus status;
};
struct Finished {
  SweepReport swept;
  bool child_lives = false;  // the started process itself could not be ended
};
struct SignalArrived {
  int signal;
};
struct DeadlinePassed {};
struct FileChanged {
  std::string path;
};
struct GuardianLost {};  // the guardian process has died
struct WaitFailed {      // the kernel refuses to wait; reported once, and events still arrive
  int error;             // errno
};
enum class JobId : unsigned {};
struct DescriptorReady {  // LinuxProcesses::watch_descriptor()
  int fd;
};
struct JobEnded {  // os/jobs.h
  JobId job{};
  ExitStatus status;
  SweepReport swept;  // the processes it had started; includes the job itself if that had to be ended
};

using Event = std::variant<Output, Exited, Finished, SignalArrived, DeadlinePassed, FileChanged, GuardianLost,
                           WaitFailed, JobEnded, DescriptorReady>;

class Processes {
 public:
  virtual ~Processes() = default;

  // Starts the child. Not allowed before the previous one has Finished.
  virtual Status start(const Launch& launch) = 0;

  // Blocks until something happens. Without a child it waits for signals, file changes and the deadline.
  virtual Event next(std::optional<MonotonicTime> deadline) = 0;

  // Starts to end the child and its descendants. Events continue until Finished. Another call starts its new sequence.
  virtual void end(const StopSequence& sequence) = 0;

  // The pid of the running child; 0 if there is none.
  virtual int child() const { return 0; }

  // From now on FileChanged follows when this file is created, renamed or removed, and possibly without a reason.
  virtual Status watch_file(const std::string& path) = 0;
};

// For a run that starts nothing.
class NoProcesses : public Processes {
 public:
  Status start(const Launch& launch) override {
    return fail(ErrorKind::kInternal, "{} can't be started here", launch.argv.front());
  }
  Event next(std::optional<MonotonicTime>) override { return DeadlinePassed{}; }
  void end(const StopSequence&) override {}
  Status watch_file(const std::string&) override { return {}; }
};

// The name of a signal: "SIGTERM".
std::string signal_name(int signal);

}  // namespace ralph
