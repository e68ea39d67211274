#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <dirent.h>
#include <map>
#include <optional>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/process_tree.h"

namespace ralph {

std::optional<ProcessInfo> read_process(int pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return std::nullopt;
  // The name is in parentheses and may contain anything: count fields from the last parenthesis.
  const size_t name_from = stat->find('('), name_to = stat->rfind(')');
  if (name_from == std::string::npos || name_to == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = split(std::string_view(*stat).substr(name_to + 2), ' ');
  if (fields.size() < 20) return std::nullopt;
  ProcessInfo info;
  info.pid = pid;
  info.state = fields[0].empty() ? '?' : fields[0][0];
  const auto number = [&](size_t field, auto& value) {
    std::from_chars(fields[field].data(), fields[field].data() + fields[field].size(), value);
  };
  int threads = 0;
  number(1, info.parent);
  number(3, info.session);
  number(17, threads);
  number(19, info.start_time);
  // A process whose main thread has exited looks like a zombie but keeps running.
  if (info.state == 'Z' && threads > 1) info.state = 'S';
  info.command = stat->substr(name_from + 1, name_to - name_from - 1);
  return info;
}

namespace {

void read_command(ProcessInfo& info) {
  auto line = read_file(fmt::format("/proc/{}/cmdline", info.pid));
  if (!line || line->empty()) return;
  std::replace(line->begin(), line->end(), '\0', ' ');
  info.command = fit_to_width(trim(*line), 80);
}

std::vector<ProcessInfo> all_processes() {
  std::vector<ProcessInfo> processes;
  DIR* folder = ::opendir("/proc");
  if (!folder) return processes;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name(entry->d_name);
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    if (auto info = read_process(pid)) processes.push_back(std::move(*info));
  }
  ::closedir(folder);
  return processes;
}

std::vector<int> pids_in(std::string_view list) {
  std::vector<int> pids;
  for (const std::string& word : split(list, ' ')) {
    int pid = 0;
    std::from_chars(word.data(), word.data() + word.size(), pid);
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}

bool is_living_child(int pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

}  // namespace

StopSequence stop_gently() {
  return {{SIGTERM, Milliseconds(5000)}, {SIGKILL, Milliseconds(3000)}};
}
StopSequence stop_leftovers() {
  return {{0, Milliseconds(50)}, {SIGTERM, Milliseconds(2000)}, {SIGKILL, Milliseconds(3000)}};
}
StopSequence stop_abandoned() {
  return {{SIGTERM, Milliseconds(1000)}, {SIGKILL, Milliseconds(3000)}};
}

bool become_subreaper() {
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

void end_with_parent(int signal) {
  ::prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0);
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

std::vector<int> child_pids() {
  return pids_in(read_file(fmt::format("/proc/self/task/{}/children", ::getpid())).value_or(""));
}

bool contains(const std::vector<ProcessInfo>& processes, const ProcessInfo& wanted) {
  return std::ranges::any_of(processes, [&](const ProcessInfo& process) {
    return process.pid == wanted.pid && process.start_time == wanted.start_time;
  });
}

bool Bystanders::include(const ProcessInfo& process) const {
  return sessions_.contains(process.session) || contains(processes_, process);
}

namespace {

// The children of a process, whichever of its threads started them; nullopt: the kernel does not list them.
std::optional<std::vector<int>> children_of(int pid) {
  std::optional<std::vector<int>> pids;
  const std::string threads = fmt::format("/proc/{}/task", pid);
  for (const std::string& thread : names_in(threads)) {
    const auto list = read_file(fmt::format("{}/{}/children", threads, thread));
    if (!list) continue;
    if (!pids) pids.emplace();
    for (const int child : pids_in(*list)) pids->push_back(child);
  }
  return pids;
}

// Walks from parents to children, so the machine's other processes cost nothing. nullopt: nobody was seen. The kernel's
// list of children may miss one while another is ending.
std::optional<std::vector<ProcessInfo>> descendants_by_descent(int root, const Bystanders& bystanders) {
  auto children = children_of(root);
  if (!children) return std::nullopt;
  std::vector<ProcessInfo> found;
  std::set<int> seen;
  while (!children->empty()) {
    const int pid = children->back();
    children->pop_back();
    if (!seen.insert(pid).second) continue;
    auto process = read_process(pid);
    if (!process || bystanders.include(*process)) continue;
    const auto below = children_of(pid);
    if (below) children->insert(children->end(), below->begin(), below->end());
    if (process->state == 'Z' || process->state == 'X') continue;
    read_command(*process);
    found.push_back(*std::move(process));
  }
  return seen.empty() ? std::nullopt : std::optional(std::move(found));
}

std::vector<ProcessInfo> descendants_among_all(int root, const Bystanders& bystanders) {
  std::multimap<int, ProcessInfo> by_parent;
  for (ProcessInfo& process : all_processes()) by_parent.emplace(process.parent, std::move(process));
  std::vector<ProcessInfo> found;
  std::vector<int> parents{root};
  while (!parents.empty()) {
    const int parent = parents.back();
    parents.pop_back();
    const auto [from, to] = by_parent.equal_range(parent);
    for (auto child = from; child != to; ++child) {
      if (bystanders.include(child->second)) continue;
      parents.push_back(child->second.pid);
      if (child->second.state == 'Z' || child->second.state == 'X') continue;
      read_command(child->second);
      found.push_back(child->second);
    }
  }
  return found;
}

void add_hidden_children(std::vector<ProcessInfo>& found, const Bystanders& bystanders) {
  for (const int pid : child_pids()) {
    if (!is_living_child(pid) || read_process(pid)) continue;
    ProcessInfo hidden{.pid = pid, .parent = ::getpid(), .session = -1, .command = "(hidden by /proc)"};
    if (!bystanders.include(hidden)) found.push_back(std::move(hidden));
  }
}

}  // namespace

Bystanders Bystanders::of_this_process(bool sessions) {
  Bystanders found;
  if (!has_children()) return found;
  found.processes_ = descendants_among_all(::getpid(), {});  // a full scan: a missed bystander would be killed
  add_hidden_children(found.processes_, {});
  if (!sessions || found.none()) return found;
  found.sessions_.insert(::getsid(0));
  for (const ProcessInfo& process : found.processes_) found.sessions_.insert(process.session);
  return found;
}

std::vector<ProcessInfo> descendants_of(int root, const Bystanders& bystanders) {
  auto found = descendants_by_descent(root, bystanders);
  return found ? *std::move(found) : descendants_among_all(root, bystanders);
}

std::vector<ProcessInfo> descendants_of_this_process(const Bystanders& bystanders) {
  std::vector<ProcessInfo> found = descendants_of(::getpid(), bystanders);
  add_hidden_children(found, bystanders);
  return found;
}

unsigned long long start_time_of(int pid) {
  const auto info = read_process(pid);
  return info && info->state != 'Z' ? info->start_time : 0;
}

std::optional<ProcessInfo> caller_of_this_process() {
  constexpr std::string_view kShells[] = {"sh", "dash", "bash", "zsh", "ksh", "mksh", "ash", "busybox", "fish"};
  for (int pid = ::getppid(), steps = 0; pid > 0 && steps < 8; ++steps) {
    auto info = read_process(pid);
    if (!info || std::find(std::begin(kShells), std::end(kShells), info->command) == std::end(kShells)) return info;
    pid = info->parent;
  }
  return std::nullopt;
}

WallTime start_of_this_process() {
  const unsigned long long ticks = start_time_of(::getpid());
  timespec since_boot{};
  if (ticks == 0 || ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return WallTime::max();
  const long long now = since_boot.tv_sec * 1000LL + since_boot.tv_nsec / 1'000'000;
  const long long then = static_cast<long long>(ticks) * 1000 / ::sysconf(_SC_CLK_TCK);
  return SystemClock().wall() - Milliseconds(now - then);
}

bool send_signal(const ProcessInfo& process, int signal) {
  // The pid of an unreaped child is not reused.
  if (process.start_time == 0) return is_living_child(process.pid) && ::kill(process.pid, signal) == 0;
  // The descriptor pins the process first; comparing start times afterwards leaves no gap for a reused pid.
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd && errno == ESRCH) return false;
  if (start_time_of(process.pid) != process.start_time) return false;
  if (pidfd && ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0) return true;
  if (pidfd && errno == ESRCH) return false;
  return ::kill(process.pid, signal) == 0;
}

EndingWorks try_to_end_a_process() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(2);  // in case it can't be ended
    for (;;) ::pause();
  }
  if (pid < 0) return EndingWorks::kNot;
  const auto process = read_process(pid);
  const bool sent = process && send_signal(*process, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!sent || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) return EndingWorks::kNot;
  const Fd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  const bool works = self && ::syscall(SYS_pidfd_send_signal, self.get(), 0, nullptr, 0) == 0;
  return works ? EndingWorks::kByDescriptor : EndingWorks::kByPid;
}

int reap_children() {
  int count = 0;
  while (::waitpid(-1, nullptr, WNOHANG) > 0) ++count;
  return count;
}

std::vector<ProcessInfo> processes_with(std::string_view variable) {
  std::vector<ProcessInfo> found;
  for (ProcessInfo& process : all_processes()) {
    if (process.pid == ::getpid() || process.pid == ::getppid() || process.state == 'Z' || process.state == 'X')
      continue;
    const auto environment = read_file(fmt::format("/proc/{}/environ", process.pid));
    if (!environment) continue;
    const std::vector<std::string> lines = split(*environment, '\0');
    if (std::find(lines.begin(), lines.end(), variable) == lines.end()) continue;
    read_command(process);
    found.push_back(std::move(process));
  }
  return found;
}

bool is_open_somewhere(const std::string& path) {
  for (const ProcessInfo& process : all_processes()) {
    const std::string folder = fmt::format("/proc/{}/fd", process.pid);
    for (const std::string& name : names_in(folder)) {
      char target[4096];
      const ssize_t length = ::readlink(join_path(folder, name).c_str(), target, sizeof target);
      if (length > 0 && std::string_view(target, static_cast<size_t>(length)) == path) return true;
    }
  }
  return false;
}

}  // namespace ralph
