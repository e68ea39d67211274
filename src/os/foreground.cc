#include "os/foreground.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process_tree.h"

namespace ralph {
namespace {

// The state of the current program, for signal handlers.
volatile sig_atomic_t running = 0;
volatile sig_atomic_t early = 0;  // a signal that came before the program was started

void pass_on(int signal) {
  if (running > 0) {
    ::kill(running, signal);
  } else {
    early = signal;
  }
}

// While it lives, ignores signals that a terminal sends to the whole foreground group, and forwards those sent to ralph
// alone.
class SignalsOfForeground {
 public:
  SignalsOfForeground() {
    running = 0;
    early = 0;
    for (size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action{};
      action.sa_handler = i < 2 ? SIG_IGN : pass_on;
      ::sigaction(kSignals[i], nullptr, &old_[i]);
      if (old_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~SignalsOfForeground() {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &old_[i], nullptr);
  }
  SignalsOfForeground(const SignalsOfForeground&) = delete;
  SignalsOfForeground& operator=(const SignalsOfForeground&) = delete;

  void of(pid_t pid) {
    running = pid;
    if (early != 0) ::kill(pid, early);
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> old_{};
};

// Only async-signal-safe calls: runs between fork and exec.
[[noreturn]] void become_program(const char* program, char** argv, char** environment, const char* folder, int report) {
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) ::sigaction(signal, &plain, nullptr);
  end_with_parent(SIGHUP);
  if (::chdir(folder) == 0) ::execve(program, argv, environment);
  const int error = errno;
  static_cast<void>(!::write(report, &error, sizeof error));
  ::_exit(127);
}

}  // namespace

Result<int> run_in_foreground(const Launch& launch) {
  TRY_VALUE(std::string program, resolve_program(launch.argv[0], launch.environment, launch.folder));
  const std::vector<std::string> lines = launch.environment.as_lines();
  const std::vector<char*> words = pointers_to(launch.argv), variables = pointers_to(lines);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorKind::kIo, "cannot create a pipe: {}", errno_text(errno));
  Fd from(ends[0]), to(ends[1]);
  const Bystanders bystanders = Bystanders::of_this_process(false);
  become_subreaper();
  SignalsOfForeground signals;
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorKind::kIo, "cannot start {}: {}", program, errno_text(errno));
  if (pid == 0) {
    become_program(program.c_str(), const_cast<char**>(words.data()), const_cast<char**>(variables.data()),
                   launch.folder.c_str(), to.get());
  }
  signals.of(pid);
  to.close();
  int error = 0;
  const bool failed = ::read(from.get(), &error, sizeof error) == sizeof error;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  if (failed) return fail(ErrorKind::kNotFound, "cannot start {}: {}", program, errno_text(error));
  end_all_descendants(stop_leftovers(), bystanders);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace ralph
