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
#include "os/files.h"
#include "os/process_tree.h"

namespace ralph {
namespace {

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
  std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), info.parent);
  std::from_chars(fields[19].data(), fields[19].data() + fields[19].size(), info.start_time);
  info.command = stat->substr(name_from + 1, name_to - name_from - 1);
  return info;
}

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

void become_subreaper() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void end_with_parent(int signal) {
  ::prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0);
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

std::vector<ProcessInfo> descendants_of(int root) {
  std::multimap<int, ProcessInfo> by_parent;
  for (ProcessInfo& process : all_processes()) by_parent.emplace(process.parent, std::move(process));
  std::vector<ProcessInfo> found;
  std::vector<int> parents{root};
  while (!parents.empty()) {
    const int parent = parents.back();
    parents.pop_back();
    const auto [from, to] = by_parent.equal_range(parent);
    for (auto child = from; child != to; ++child) {
      parents.push_back(child->second.pid);
      if (child->second.state == 'Z' || child->second.state == 'X') continue;
      read_command(child->second);
      found.push_back(child->second);
    }
  }
  return found;
}

unsigned long long start_time_of(int pid) {
  const auto info = read_process(pid);
  return info && info->state != 'Z' ? info->start_time : 0;
}

bool send_signal(const ProcessInfo& process, int signal) {
  // The descriptor pins the process first; comparing start times afterwards leaves no gap for a reused pid.
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd || start_time_of(process.pid) != process.start_time) return false;
  return ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
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

SweepReport end_processes_with(std::string_view variable, const StopSequence& sequence) {
  SweepReport report;
  std::map<int, ProcessInfo> signalled;
  std::vector<ProcessInfo> left = processes_with(variable);
  for (const StopStep& step : sequence) {
    for (auto time = step.grace; time.count() > 0 && !left.empty(); time -= Milliseconds(20)) {
      for (const ProcessInfo& process : left) {
        const bool is_new = signalled.emplace(process.pid, process).second;
        if (is_new || step.signal == SIGKILL || time == step.grace) send_signal(process, step.signal);
      }
      const timespec moment{0, 20'000'000};
      ::nanosleep(&moment, nullptr);
      left = processes_with(variable);
    }
  }
  report.survivors = std::move(left);
  for (auto& [pid, process] : signalled) report.ended.push_back(std::move(process));
  return report;
}

SweepReport end_all_descendants(const StopSequence& sequence) {
  SweepReport report;
  std::map<int, ProcessInfo> signalled;
  const auto pause = [](long milliseconds) {
    const timespec time{0, milliseconds * 1000000};
    ::nanosleep(&time, nullptr);
  };
  for (const StopStep& step : sequence) {
    for (auto left = step.grace; left.count() > 0; left -= Milliseconds(10)) {
      reap_children();
      if (!has_children()) break;
      for (const ProcessInfo& process : descendants_of(::getpid())) {
        const bool is_new = signalled.emplace(process.pid, process).second;
        // SIGKILL is repeated until nothing is left, to catch processes that fork faster than we look.
        if (is_new || step.signal == SIGKILL || left == step.grace) send_signal(process, step.signal);
      }
      pause(10);
    }
  }
  reap_children();
  if (has_children()) report.survivors = descendants_of(::getpid());
  for (auto& [pid, process] : signalled) report.ended.push_back(std::move(process));
  return report;
}

}  // namespace ralph
