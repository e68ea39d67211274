#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/text.h"
#include "os/control_group.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr std::string_view kGroups = "/sys/fs/cgroup";
constexpr std::string_view kOurs = "contained-";
constexpr int kFreezeLooks = 50;

// 0: it does not start with a number.
int leading_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Where the unified hierarchy is mounted: alone, or next to those of version 1.
std::string unified_mount() {
  for (const std::string& folder : {std::string(kGroups), join_path(kGroups, "unified")}) {
    if (file_exists(join_path(folder, "cgroup.controllers"))) return folder;
  }
  return "";
}

std::string own_unified_folder() {
  const std::string mount = unified_mount(), own = own_control_group("");
  // "/..": above what this process may see.
  if (mount.empty() || own.empty() || own.starts_with("/..")) return "";
  return own == "/" ? mount : mount + own;
}

void remove_stale(const std::string& parent) {
  for (const std::string& name : names_in(parent)) {
    if (!name.starts_with(kOurs)) continue;
    const int pid = leading_number(std::string_view(name).substr(kOurs.size()));
    // rmdir fails for one that still has processes.
    if (pid > 0 && !file_exists(fmt::format("/proc/{}", pid))) ::rmdir(join_path(parent, name).c_str());
  }
}

// Before Linux 5.14: nothing in a frozen group can fork before it is killed.
bool kill_frozen(const std::string& folder) {
  if (!write_control(join_path(folder, "cgroup.freeze"), "1")) return false;
  for (int look = 0; look < kFreezeLooks; ++look) {
    const auto events = read_file(join_path(folder, "cgroup.events"));
    if (!events || events->find("frozen 1") != std::string::npos) break;
    ::usleep(1000);
  }
  const auto pids = read_file(join_path(folder, "cgroup.procs"));
  for (const std::string& line : split(pids.value_or(""), '\n')) {
    if (const int pid = leading_number(line); pid > 0) ::kill(pid, SIGKILL);
  }
  return write_control(join_path(folder, "cgroup.freeze"), "0");
}

}  // namespace

bool write_control(const std::string& file, std::string_view value) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

// "0::/path" is the unified hierarchy, "8:pids:/path" one of version 1.
std::string own_control_group(std::string_view controller) {
  const auto text = read_file("/proc/self/cgroup");
  for (const std::string& line : split(text.value_or(""), '\n')) {
    const std::vector<std::string> parts = split(line, ':');
    if (parts.size() < 3) continue;
    const std::vector<std::string> names = split(parts[1], ',');
    if (controller.empty() ? parts[1].empty() : std::ranges::find(names, controller) != names.end())
      return line.substr(parts[0].size() + parts[1].size() + 2);
  }
  return "";
}

std::string make_control_group(const std::string& parent) {
  static int count = 0;
  remove_stale(parent);
  const std::string folder = join_path(parent, fmt::format("{}{}-{}", kOurs, ::getpid(), ++count));
  return ::mkdir(folder.c_str(), 0755) == 0 ? folder : "";
}

KillGroup::KillGroup() {
  const std::string own = own_unified_folder();
  // Moving a process requires write access to both groups.
  if (own.empty() || ::access(join_path(own, "cgroup.procs").c_str(), W_OK) != 0) return;
  folder_ = make_control_group(own);
  if (folder_.empty() || ::access(entry().c_str(), W_OK) == 0) return;
  ::rmdir(folder_.c_str());
  folder_.clear();
}

KillGroup::~KillGroup() {
  if (exists()) ::rmdir(folder_.c_str());
}

bool kill_group(const std::string& folder) {
  return write_control(join_path(folder, "cgroup.kill"), "1") || kill_frozen(folder);
}

}  // namespace ralph
