#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "sandbox/limits.h"

namespace ralph {
namespace {

constexpr std::string_view kGroups = "/sys/fs/cgroup";
constexpr std::string_view kOurs = "ralph-";
constexpr int kPeriod = 100'000;  // microseconds; a quota is a share of it

bool set(const std::string& file, const std::string& value) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

// The group of this process in a hierarchy: "0::/path" is the unified one, "8:pids:/path" one of version 1.
std::string own_group(std::string_view controller) {
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

// Groups of runs that were killed. One that still has processes stays.
void remove_stale(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with(kOurs)) continue;
    const int pid = std::atoi(name.c_str() + kOurs.size());
    if (pid > 0 && !file_exists(fmt::format("/proc/{}", pid))) ::rmdir(join_path(folder, name).c_str());
  }
}

std::string our_name() {
  static int count = 0;
  return fmt::format("{}{}-{}", kOurs, ::getpid(), ++count);
}

}  // namespace

ResourceGroup::ResourceGroup(ResourceGroup&& other) noexcept {
  *this = std::move(other);
}

ResourceGroup& ResourceGroup::operator=(ResourceGroup&& other) noexcept {
  std::swap(limits_, other.limits_);
  std::swap(folders_, other.folders_);
  std::swap(files_, other.files_);
  std::swap(processes_, other.processes_);
  std::swap(memory_, other.memory_);
  std::swap(cpu_, other.cpu_);
  return *this;
}

ResourceGroup::~ResourceGroup() {
  for (const std::string& folder : folders_) ::rmdir(folder.c_str());
}

bool ResourceGroup::make_folder(const std::string& folder) {
  remove_stale(parent_path(folder));
  if (::mkdir(folder.c_str(), 0755) != 0) return false;
  folders_.push_back(folder);
  return true;
}

// One hierarchy for all. A group with processes can't have limited groups below it, so ours stands beside the one that
// this process is in.
bool ResourceGroup::make_unified() {
  if (!file_exists(join_path(kGroups, "cgroup.controllers"))) return false;
  const std::string own = own_group("");
  if (own.empty()) return false;
  const std::string beside = join_path(kGroups, own == "/" ? "" : parent_path(own).substr(1));
  const std::string folder = join_path(beside, our_name());
  if (!make_folder(folder)) return false;
  if (limits_.processes > 0 && set(join_path(folder, "pids.max"), std::to_string(limits_.processes)))
    processes_ = LimitBy::kGroup;
  if (limits_.memory_bytes > 0 && set(join_path(folder, "memory.max"), std::to_string(limits_.memory_bytes))) {
    set(join_path(folder, "memory.swap.max"), "0");
    memory_ = LimitBy::kGroup;
  }
  const int quota = kPeriod / 100 * limits_.cpu_percent;
  if (limits_.cpu_percent > 0 && set(join_path(folder, "cpu.max"), fmt::format("{} {}", quota, kPeriod)))
    cpu_ = LimitBy::kGroup;
  // Whether a process may be moved there is known only by trying: the child of a launch would fail. A delegated group
  // belongs to the user, with its cgroup.procs and that of the group above.
  const bool may_enter = ::access(join_path(folder, "cgroup.procs").c_str(), W_OK) == 0 &&
                         ::access(join_path(beside, "cgroup.procs").c_str(), W_OK) == 0;
  const bool any = processes_ == LimitBy::kGroup || memory_ == LimitBy::kGroup || cpu_ == LimitBy::kGroup;
  if (!any || !may_enter) {
    ::rmdir(folder.c_str());
    folders_.clear();
    processes_ = memory_ = cpu_ = LimitBy::kNothing;
    return false;
  }
  files_.push_back(join_path(folder, "cgroup.procs"));
  return true;
}

// Version 1: a hierarchy for each.
void ResourceGroup::make_separate() {
  const auto limit = [&](std::string_view controller, const std::string& file, const std::string& value, LimitBy& by) {
    const std::string own = own_group(controller);
    if (own.empty()) return;
    const std::string folder = join_path(join_path(join_path(kGroups, controller), own.substr(1)), our_name());
    if (!make_folder(folder)) return;
    if (!set(join_path(folder, file), value) || ::access(join_path(folder, "cgroup.procs").c_str(), W_OK) != 0) return;
    files_.push_back(join_path(folder, "cgroup.procs"));
    by = LimitBy::kGroup;
  };
  if (limits_.processes > 0) limit("pids", "pids.max", std::to_string(limits_.processes), processes_);
  if (limits_.memory_bytes > 0) limit("memory", "memory.limit_in_bytes", std::to_string(limits_.memory_bytes), memory_);
  if (limits_.cpu_percent > 0)
    limit("cpu", "cpu.cfs_quota_us", std::to_string(kPeriod / 100 * limits_.cpu_percent), cpu_);
}

ResourceGroup ResourceGroup::make(const SandboxLimits& limits, bool is_root) {
  ResourceGroup group;
  group.limits_ = limits;
  if (!group.make_unified()) group.make_separate();
  // Inside, each user namespace counts its own processes. For root's the kernel does not look at the limit.
  if (group.processes_ == LimitBy::kNothing && limits.processes > 0 && !is_root) group.processes_ = LimitBy::kProcess;
  if (group.memory_ == LimitBy::kNothing && limits.memory_bytes > 0) group.memory_ = LimitBy::kProcess;
  return group;
}

LimitsInside ResourceGroup::inside() const {
  return {processes_ == LimitBy::kProcess ? limits_.processes : 0,
          memory_ == LimitBy::kProcess ? limits_.memory_bytes : 0};
}

std::string ResourceGroup::describe() const {
  const auto one = [](std::string_view what, const std::string& value, LimitBy by, std::string_view each) {
    if (by == LimitBy::kNothing) return fmt::format("{} not limited", what);
    return fmt::format("{} {} ({})", what, value, by == LimitBy::kGroup ? "cgroup" : each);
  };
  const std::string memory = human_bytes(static_cast<size_t>(limits_.memory_bytes));
  std::string text = one("processes", std::to_string(limits_.processes), processes_, "rlimit") + ", " +
                     one("memory", memory, memory_, "rlimit, each process");
  if (limits_.cpu_percent > 0) text += ", " + one("cpu", fmt::format("{} %", limits_.cpu_percent), cpu_, "");
  return text;
}

long long default_memory_limit() {
  const long long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? pages / 4 * 3 * size : 0;
}

}  // namespace ralph
