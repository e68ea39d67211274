#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/launch.h"

namespace ralph {
namespace {

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return fail(ErrorKind::kIo, "cannot create a pipe: {}", errno_text(errno));
  // A larger pipe means fewer wake-ups for a talkative agent. One read's worth is enough, because the total size of a
  // user's pipes is limited. Failure only costs speed.
  ::fcntl(fds[0], F_SETPIPE_SZ, 256 * 1024);
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

// Everything the child needs, prepared in advance: between vfork and exec nothing may allocate.
struct ChildPlan {
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* folder;
  Streams streams;
  pid_t parent;
  int death_signal;
  bool nohup;                       // SIGHUP is ignored, as nohup intends for all descendants
  const std::vector<int>& signals;  // to reset
  const std::vector<Fd>& files;
  const std::vector<std::string>& groups;
  bool blocks_signals;
};

constexpr int kFirstFile = 3;

// Files for the child, on descriptors above those they will have there.
Result<std::vector<Fd>> files_for(const std::vector<std::string>& contents) {
  std::vector<Fd> files;
  const int above = kFirstFile + static_cast<int>(contents.size());
  for (const std::string& content : contents) {
    TRY_VALUE(Fd file, file_of(content));
    files.emplace_back(::fcntl(file.get(), F_DUPFD_CLOEXEC, above));
    if (!files.back()) return fail(ErrorKind::kIo, "cannot create an input file: {}", errno_text(errno));
  }
  return files;
}

// Moves the calling process into the group of this cgroup.procs file.
bool enter_group(const char* file) {
  const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool entered = ::write(fd, "0", 1) == 1;
  const int error = errno;
  ::close(fd);
  errno = error;
  return entered;
}

bool ignores_hangups() {
  struct sigaction hangup{};
  return ::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
}

// exec keeps ignored signals ignored, and before exec a handler would run in the child. So a child resets the
// signals that ralph itself ever handles or ignores, and those that this process inherited as ignored. SIGHUP is apart.
const std::vector<int>& signals_to_reset() {
  static const std::vector<int> signals = [] {
    std::vector<int> found = {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ, SIGCHLD, SIGTSTP, SIGCONT};
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction now{};
      if (signal != SIGHUP && ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_DFL)
        found.push_back(signal);
    }
    return found;
  }();
  return signals;
}

// Runs in the child, in the parent's memory. Returns the errno of the failed call.
int become(const ChildPlan& plan) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, plan.death_signal);
  if (::getppid() != plan.parent) ::_exit(127);  // the parent died before the line above
  if (::dup2(plan.streams.in, 0) < 0 || ::dup2(plan.streams.out, 1) < 0 || ::dup2(plan.streams.err, 2) < 0)
    return errno;
  release_descriptors(3, UINT_MAX, Descriptors::kCloseOnExec);
  int number = kFirstFile;
  for (const Fd& file : plan.files) {
    if (::dup2(file.get(), number++) < 0) return errno;
  }
  for (const std::string& group : plan.groups) {
    if (!enter_group(group.c_str())) return errno == ENOENT ? EIO : errno;  // ENOENT would mean the program
  }
  if (::chdir(plan.folder) != 0) return errno;
  if (!plan.nohup) ::signal(SIGHUP, SIG_DFL);
  for (const int signal : plan.signals) ::signal(signal, SIG_DFL);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  if (plan.blocks_signals) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) ::sigaddset(&blocked, signal);
  }
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  ::execve(plan.program, plan.argv, plan.environment);
  return errno;
}

// kBusy: it may work in a moment, because somebody is writing the program or no process can be created right now.
ErrorKind kind_of(int error) {
  if (error == ETXTBSY || error == EAGAIN) return ErrorKind::kBusy;
  const bool bad_program = error == ENOENT || error == EACCES || error == ENOEXEC || error == ENOTDIR;
  return bad_program ? ErrorKind::kNotFound : ErrorKind::kIo;
}

// vfork costs a third less than fork, and an agent loop spawns all night. A separate function, because the child
// borrows this stack frame.
[[gnu::noinline]] pid_t start_child(const ChildPlan& plan, volatile int* error) {
  const pid_t pid = ::vfork();
  if (pid == 0) {
    *error = become(plan);
    ::_exit(127);
  }
  return pid;
}

}  // namespace

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

Result<Fd> file_of(std::string_view bytes) {
  Fd file(::memfd_create("input", MFD_CLOEXEC));
  if (!file) return fail(ErrorKind::kIo, "cannot create an input file: {}", errno_text(errno));
  TRY(write_all(file.get(), bytes, "the input of a process"));
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

Result<Fd> input_of(std::string_view bytes) {
  if (!bytes.empty()) return file_of(bytes);
  Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return fail(ErrorKind::kIo, "cannot open /dev/null: {}", errno_text(errno));
  return null;
}

Result<int> spawn_on(const Launch& launch, const Streams& streams) {
  TRY_VALUE(const std::string program, resolve_program(launch.argv.at(0), launch.environment, launch.folder));
  const std::vector<std::string> environment = launch.environment.as_lines();
  TRY_VALUE(const std::vector<Fd> files, files_for(launch.files));
  const std::vector<char*> argv_pointers = pointers_to(launch.argv);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const ChildPlan plan{program.c_str(),
                       argv_pointers.data(),
                       environment_pointers.data(),
                       launch.folder.c_str(),
                       streams,
                       ::getpid(),
                       launch.may_clean_up ? SIGTERM : SIGKILL,
                       ignores_hangups(),
                       signals_to_reset(),
                       files,
                       launch.groups,
                       launch.blocks_signals};
  volatile int error = 0;
  const pid_t pid = start_child(plan, &error);
  if (pid < 0) return fail(kind_of(errno), "cannot start {}: {}", program, errno_text(errno));
  if (error != 0) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    const char* advice = error == ENOEXEC  ? " (a script needs a first line such as #!/bin/sh)"
                         : error == ENOENT ? " (does the program in its first line #!… exist?)"
                         : error == E2BIG  ? " (arguments and environment together are too large)"
                                           : "";
    return fail(kind_of(error), "cannot start {}: {}{}", program, errno_text(error), advice);
  }
  return pid;
}

Result<Spawned> spawn(const Launch& launch) {
  TRY_VALUE(const Fd input, input_of(launch.input));
  TRY_VALUE(Pipe out, make_pipe());
  Pipe err;
  if (!launch.merge_streams) {
    TRY_VALUE(err, make_pipe());
  }
  const int error_end = launch.merge_streams ? out.write.get() : err.write.get();
  TRY_VALUE(const int pid, spawn_on(launch, {input.get(), out.write.get(), error_end}));
  return Spawned{pid, std::move(out.read), std::move(err.read)};
}

}  // namespace ralph
