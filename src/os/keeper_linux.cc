#include <algorithm>
#include <climits>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/job_messages.h"
#include "os/keeper.h"
#include "os/packets.h"
#include "os/processes_linux.h"

namespace ralph {
namespace {

void close_all_but(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned from = 0;
  for (const int fd : kept) {
    const auto number = static_cast<unsigned>(fd);
    if (number > from) release_descriptors(from, number - 1, Descriptors::kClose);
    from = number + 1;
  }
  release_descriptors(from, UINT_MAX, Descriptors::kClose);
}

// Detaches from the terminal and from everything that belongs to the guardian. Changes its name, so that
// `pkill -9 ralph` leaves somebody to clean up.
void leave_guardian(const KeeperFiles& files) {
  ::setsid();
  ::prctl(PR_SET_NAME, "keeper");
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  close_all_but({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, files.socket.get(), files.request.get(), files.in.get(),
                 files.out.get(), files.err.get(), files.guardian.get()});
}

// Starts the job and returns its stop sequence. Closes the streams, so the job alone holds its ends of pipes.
Result<StopSequence> start_job(LinuxProcesses& processes, KeeperFiles& files) {
  TRY_VALUE(const std::string bytes, read_file(fmt::format("/proc/self/fd/{}", files.request.get())));
  TRY_VALUE(JobRequest request, decode_request(bytes));
  TRY_VALUE(const int pid, spawn_on(request.launch, {files.in.get(), files.out.get(), files.err.get()}));
  processes.adopt(pid);
  for (Fd* fd : {&files.request, &files.in, &files.out, &files.err}) fd->close();
  return std::move(request.stop);
}

JobEnded wait_for_end(LinuxProcesses& processes, const StopSequence& stop) {
  JobEnded ended;
  ended.status = {128 + SIGKILL, SIGKILL};  // if it outlives even its stop sequence
  bool ending = false;                      // a second request must not restart the sequence
  for (;;) {
    const Event event = processes.next(std::nullopt);
    const auto* signal = std::get_if<SignalArrived>(&event);
    const bool asked = signal && signal->signal == SIGTERM;
    const bool abandoned = std::holds_alternative<GuardianLost>(event);
    if (abandoned || (asked && !ending)) {
      ending = true;
      processes.end(abandoned ? stop_abandoned() : stop);
    }
    if (const auto* exited = std::get_if<Exited>(&event)) ended.status = exited->status;
    if (const auto* finished = std::get_if<Finished>(&event)) {
      ended.swept = finished->swept;
      return ended;
    }
  }
}

}  // namespace

void keep_job(KeeperFiles files) {
  leave_guardian(files);
  const SystemClock clock;
  LinuxProcesses processes(clock, files.guardian.get());
  const Result<StopSequence> stop = start_job(processes, files);
  // It does not matter whether the loop still listens: the guardian decides when a job ends.
  const auto tell = [&](const JobReply& reply) { static_cast<void>(send_packet(files.socket.get(), encode(reply))); };
  if (!stop) {
    tell(stop.error());
    ::_exit(0);
  }
  tell(JobStarted{});
  tell(wait_for_end(processes, *stop));
  ::_exit(0);
}

}  // namespace ralph
