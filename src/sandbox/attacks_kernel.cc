#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/files.h"
#include "sandbox/attacks.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;

Attempt mounts(const AttackPlace& place) {
  const std::string at = join_path(place.project, "mount");
  ::mkdir(at.c_str(), 0755);
  const int mounted = ::mount("none", at.c_str(), "tmpfs", 0, nullptr);
  const Attempt attempt = attempt_of(mounted, "mounted a file system");
  if (mounted == 0) ::umount2(at.c_str(), MNT_DETACH);
  return attempt;
}

Attempt unmounts(const AttackPlace& place) {
  const std::string at = join_path(place.project, ".ralph");
  return attempt_of(::umount2(at.c_str(), MNT_DETACH), "removed the protection of .ralph");
}

// Runs the action in a child, so that the attacker itself is unaffected.
template <class Action>
Attempt in_child(Action action, std::string_view done) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return {false, errno_text(errno)};
  const Fd read(report[0]);
  Fd write(report[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return {false, errno_text(errno)};
  if (pid == 0) {
    const int error = action() < 0 ? errno : 0;
    static_cast<void>(!::write(write.get(), &error, sizeof error));
    ::_exit(0);
  }
  write.close();
  int error = EIO;
  if (::read(read.get(), &error, sizeof error) != sizeof error) error = EIO;
  ::waitpid(pid, nullptr, 0);
  if (error == 0) return {true, std::string(done)};
  return {false, errno_text(error)};
}

// Calls clone() without a separate stack, as fork() does.
long clone_with(unsigned long flags) {
  const long pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) ::_exit(0);
  if (pid > 0) ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return pid;
}

struct Clone3Arguments {
  std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

long clone3_with(unsigned long flags) {
  Clone3Arguments arguments{};
  arguments.flags = flags;
  arguments.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) ::_exit(0);
  if (pid > 0) ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return pid;
}

// Writes the existing content back: whoever may do that may write anything.
Attempt rewrites(const std::string& path) {
  const auto text = read_file(path);
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!text || !file) return {false, errno_text(errno)};
  return attempt_of(::write(file.get(), text->data(), text->size()), "wrote it");
}

Attempt types_into_terminal() {
  const Fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal) return {false, errno_text(errno)};
  const char letter = 'x';
  return attempt_of(::ioctl(terminal.get(), TIOCSTI, &letter), "typed a letter");
}

Attempt opens(const char* path, int how) {
  const Fd file(::open(path, how | O_CLOEXEC));
  return attempt_of(file.get(), "opened it");
}

// Opens any file of /proc outside the processes' folders. For reading, kernel settings (/proc/sys) are skipped: they
// reveal nothing about others.
Attempt opens_any_of_proc(int how, mode_t closed_to_others) {
  std::error_code error;
  size_t seen = 0;
  for (auto at = fs::recursive_directory_iterator("/proc", fs::directory_options::skip_permission_denied, error);
       !error && at != fs::recursive_directory_iterator() && ++seen < 20'000; at.increment(error)) {
    const std::string path = at->path().string(), name = at->path().filename().string();
    const bool is_process = at.depth() == 0 && (name.find_first_not_of("0123456789") == std::string::npos ||
                                                name == "self" || name == "thread-self");
    const bool is_setting = closed_to_others != 0 && path == "/proc/sys";
    struct stat info{};
    if (is_process || is_setting || at.depth() > 3) at.disable_recursion_pending();
    if (is_process || ::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (closed_to_others != 0 && (info.st_mode & closed_to_others) != 0) continue;
    if (const Fd file(::open(path.c_str(), how | O_CLOEXEC | O_NONBLOCK)); file) return {true, "opened " + path};
  }
  return {false, "none can be opened"};
}

// Large enough for the parameters of all these calls; the rest is zero.
constexpr size_t kParameters = 128;

constexpr std::array kKernelAttacks = {
    Attack{"mount", "mount a file system", mounts},
    Attack{"unmount", "take away the mount that protects .ralph", unmounts},
    Attack{"mount-api", "open a file system with the newer mount calls",
           [](const AttackPlace&) {
             const Fd file(static_cast<int>(::syscall(SYS_fsopen, "tmpfs", 0)));
             return attempt_of(file.get(), "opened one");
           }},
    Attack{"user-namespace", "become root in a new user namespace, with unshare",
           [](const AttackPlace&) { return in_child([] { return ::unshare(CLONE_NEWUSER); }, "made one"); }},
    Attack{"user-namespace-clone", "the same with clone",
           [](const AttackPlace&) { return in_child([] { return clone_with(CLONE_NEWUSER); }, "made one"); }},
    Attack{"user-namespace-clone3", "the same with clone3, whose flags a filter can't see",
           [](const AttackPlace&) { return in_child([] { return clone3_with(CLONE_NEWUSER); }, "made one"); }},
    Attack{"core-pattern", "set the program that the kernel runs for a crash",
           [](const AttackPlace&) { return rewrites("/proc/sys/kernel/core_pattern"); }},
    Attack{"sysrq", "open /proc/sysrq-trigger for writing",
           [](const AttackPlace&) { return opens("/proc/sysrq-trigger", O_WRONLY); }},
    Attack{"proc-write", "open any other file of /proc for writing",
           [](const AttackPlace&) { return opens_any_of_proc(O_WRONLY, 0); }},
    Attack{"proc-read", "read the files of /proc that only root may read",
           [](const AttackPlace&) { return opens_any_of_proc(O_RDONLY, S_IROTH); }},
    Attack{"io-uring", "start io_uring, whose calls a filter can't see",
           [](const AttackPlace&) {
             char parameters[kParameters] = {};
             const Fd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 4, parameters)));
             return attempt_of(ring.get(), "started it");
           }},
    Attack{"keyring", "add a key to the session's keyring",
           [](const AttackPlace&) {
             constexpr int kProcessKeyring = -2;
             return attempt_of(::syscall(SYS_add_key, "user", "attack", "x", 1, kProcessKeyring), "added one");
           }},
    Attack{"bpf", "load a program into the kernel",
           [](const AttackPlace&) {
             // A map of one byte.
             std::uint32_t parameters[kParameters / 4] = {2, 4, 4, 1};
             const Fd map(static_cast<int>(::syscall(SYS_bpf, 0, parameters, sizeof parameters)));
             return attempt_of(map.get(), "made a map");
           }},
    Attack{"performance-counter", "watch the machine with a performance counter",
           [](const AttackPlace&) {
             std::uint32_t parameters[kParameters / 4] = {1, kParameters};
             const Fd counter(static_cast<int>(::syscall(SYS_perf_event_open, parameters, 0, -1, -1, 0)));
             return attempt_of(counter.get(), "opened one");
           }},
    Attack{"terminal-input", "type into a terminal (TIOCSTI)",
           [](const AttackPlace&) { return types_into_terminal(); }},
    Attack{"device", "create a device for a disk",
           [](const AttackPlace& p) {
             const std::string path = join_path(p.project, "disk");
             const int made = ::mknod(path.c_str(), S_IFBLK | 0600, makedev(8, 0));
             const Attempt attempt = attempt_of(made, "made one");
             ::unlink(path.c_str());
             return attempt;
           }},
    Attack{"change-root", "change the root folder",
           [](const AttackPlace& p) { return in_child([&] { return ::chroot(p.project.c_str()); }, "changed it"); }},
    Attack{"host-name", "rename the machine",
           [](const AttackPlace&) {
             char name[256] = {};
             ::gethostname(name, sizeof name - 1);
             return attempt_of(::sethostname(name, std::strlen(name)), "set it");
           }},
};

}  // namespace

std::span<const Attack> kernel_attacks() {
  return kKernelAttacks;
}

}  // namespace ralph
