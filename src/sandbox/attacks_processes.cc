#include <array>
#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/text.h"
#include "os/files.h"
#include "os/process_tree.h"
#include "sandbox/attacks.h"

namespace ralph {
namespace {

constexpr int kMoreThanAllowed = 40;
constexpr long long kPiece = 8 << 20;

// Looks for a host process with its secret in its environment.
Attempt finds_secret(const AttackPlace& place, const char* file) {
  for (const std::string& name : names_in("/proc")) {
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) continue;
    const auto text = read_file(fmt::format("/proc/{}/{}", name, file));
    if (text && contains(*text, victim_secret(place))) return {true, "found it in pid " + name};
  }
  return {false, "no process of the host is visible"};
}

bool has_ended(const AttackPlace& place) {
  siginfo_t info{};
  const int looked = ::waitid(P_PID, static_cast<id_t>(place.victim), &info, WEXITED | WNOHANG | WNOWAIT);
  return looked != 0 || info.si_pid != 0;
}

Attempt forks(const AttackPlace& place) {
  const long long wanted = place.processes + kMoreThanAllowed;
  std::vector<pid_t> children;
  int error = 0;
  for (long long i = 0; i < wanted; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::alarm(20);
      ::pause();
      ::_exit(0);
    }
    if (pid < 0) {
      error = errno;
      break;
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) ::kill(pid, SIGKILL);
  for (const pid_t pid : children) ::waitpid(pid, nullptr, 0);
  if (error == 0) return {true, fmt::format("started {} processes", children.size())};
  return {false, fmt::format("{} after {} processes", errno_text(error), children.size())};
}

Attempt takes_memory(const AttackPlace& place) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (long long taken = 0; taken < 2 * place.memory_bytes; taken += kPiece) {
      void* piece = ::mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (piece == MAP_FAILED) ::_exit(1);
      for (long long at = 0; at < kPiece; at += 4096) static_cast<volatile char*>(piece)[at] = 1;
    }
    ::_exit(0);
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return {false, errno_text(errno)};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {true, "took twice what is allowed"};
  return {false, WIFSIGNALED(status) ? "it was killed" : "no more memory was given"};
}

// Fills memory with files, which no per-process limit counts. Runs in a child, because it may be killed for it.
Attempt fills_memory_with_files(const AttackPlace& place) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    long long written = 0;
    std::vector<Fd> files;  // unlinked at once, so gone with this process
    const std::string piece(1 << 20, 'x');
    for (const char* folder : {"/dev/shm", "/tmp", "/run", "/var/tmp", "/var"}) {
      files.emplace_back(::open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
      const auto size = static_cast<ssize_t>(piece.size());
      while (written < 2 * place.memory_bytes && ::write(files.back().get(), piece.data(), piece.size()) == size)
        written += size;
    }
    ::_exit(written < 2 * place.memory_bytes ? 1 : 0);
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return {false, errno_text(errno)};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {true, "wrote twice what is allowed"};
  return {false, WIFSIGNALED(status) ? "it was killed" : "there was no more space"};
}

// Starts a process that leaves its session and its parents, to outlive them all.
Attempt stays(const AttackPlace&) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    if (::fork() == 0) {
      const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
      for (int fd = 0; fd < 3; ++fd) ::dup2(null.get(), fd);
      ::alarm(20);
      for (;;) ::pause();
    }
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  return {false, "it ended with the sandbox"};
}

// bwrap's outer process may end a moment before the kernel has ended the last process inside, so only a process that
// stays counts.
bool has_stayed(const AttackPlace& place) {
  constexpr int kLooks = 150;
  const auto left = [&] { return processes_with("RALPH_ATTACK=" + place.canary); };
  for (int look = 0; look < kLooks && !left().empty(); ++look) ::usleep(20'000);
  const std::vector<ProcessInfo> stayed = left();
  for (const ProcessInfo& process : stayed) ::kill(process.pid, SIGKILL);
  return !stayed.empty();
}

constexpr std::array kProcessesAttacks = {
    Attack{"process-list", "find a process of the host by its environment",
           [](const AttackPlace& p) { return finds_secret(p, "environ"); }},
    Attack{"signal", "end a process of the host",
           [](const AttackPlace& p) { return attempt_of(::kill(p.victim, SIGTERM), "signalled it"); }, has_ended},
    Attack{"ptrace", "attach to a process of the host",
           [](const AttackPlace& p) {
             const long attached = ::ptrace(PTRACE_ATTACH, p.victim, nullptr, nullptr);
             const Attempt attempt = attempt_of(attached, "attached");
             if (attached == 0) {
               ::waitpid(p.victim, nullptr, __WALL);
               ::ptrace(PTRACE_DETACH, p.victim, nullptr, nullptr);
             }
             return attempt;
           }},
    Attack{"process-memory", "open the memory of a process of the host",
           [](const AttackPlace& p) {
             const Fd file(::open(fmt::format("/proc/{}/mem", p.victim).c_str(), O_RDWR | O_CLOEXEC));
             return attempt_of(file.get(), "opened it");
           }},
    Attack{"outlive", "leave a process behind", stays, has_stayed},
    Attack{"fork-bomb", "start more processes than are allowed", forks},
    Attack{"memory", "take more memory than is allowed", takes_memory},
    Attack{"memory-by-files", "fill the memory with files in /tmp and /dev/shm", fills_memory_with_files},
};

}  // namespace

std::span<const Attack> process_attacks() {
  return kProcessesAttacks;
}

}  // namespace ralph
