#include <unistd.h>

#include "base/text.h"
#include "os/control_group.h"
#include "os/files.h"
#include "sandbox/limits.h"

namespace ralph {
namespace {

constexpr std::string_view kGroups = "/sys/fs/cgroup";
constexpr int kPeriod = 100'000;  // microseconds; a quota is a share of it

}  // namespace

ResourceGroup::ResourceGroup(ResourceGroup&& other) noexcept {
  *this = std::move(other);
}

ResourceGroup& ResourceGroup::operator=(ResourceGroup&& other) noexcept {
  std::swap(limits_, other.limits_);
  std::swap(folders_, other.folders_);
  std::swap(files_, other.files_);
  std::swap(shared_, other.shared_);
  std::swap(processes_, other.processes_);
  std::swap(memory_, other.memory_);
  std::swap(cpu_, other.cpu_);
  return *this;
}

ResourceGroup::~ResourceGroup() {
  for (const std::string& folder : folders_) ::rmdir(folder.c_str());
}

std::string ResourceGroup::make_folder(const std::string& parent) {
  std::string folder = make_control_group(parent);
  if (!folder.empty()) folders_.push_back(folder);
  return folder;
}

// cgroup v2: a single hierarchy. A group that contains processes can't have limited subgroups, so ours is a sibling of
// the group this process is in.
bool ResourceGroup::make_unified() {
  if (!file_exists(join_path(kGroups, "cgroup.controllers"))) return false;
  const std::string own = own_control_group("");
  if (own.empty()) return false;
  const std::string beside = join_path(kGroups, own == "/" ? "" : parent_path(own).substr(1));
  const std::string folder = make_folder(beside);
  if (folder.empty()) return false;
  if (limits_.processes > 0 && write_control(join_path(folder, "pids.max"), std::to_string(limits_.processes)))
    processes_ = LimitBy::kGroup;
  if (limits_.memory_bytes > 0 &&
      write_control(join_path(folder, "memory.max"), std::to_string(limits_.memory_bytes))) {
    write_control(join_path(folder, "memory.swap.max"), "0");
    memory_ = LimitBy::kGroup;
  }
  const int quota = kPeriod / 100 * limits_.cpu_percent;
  if (limits_.cpu_percent > 0 && write_control(join_path(folder, "cpu.max"), fmt::format("{} {}", quota, kPeriod)))
    cpu_ = LimitBy::kGroup;
  // Only an attempt would show for sure whether a process may be moved there, and then the child of a launch would
  // fail. In a delegated hierarchy the user owns cgroup.procs of both this group and its parent.
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

// cgroup v1: one hierarchy per controller. They are entered through `tasks`, which moves one thread: the child that
// enters has only one. `cgroup.procs` would synchronize with all processes of the machine first, which takes 10 ms.
void ResourceGroup::make_separate() {
  const auto limit = [&](std::string_view controller, const std::string& file, const std::string& value, LimitBy& by) {
    const std::string own = own_control_group(controller);
    if (own.empty()) return;
    const std::string folder = make_folder(join_path(join_path(kGroups, controller), own.substr(1)));
    if (folder.empty()) return;
    const std::string tasks = join_path(folder, "tasks");
    if (!write_control(join_path(folder, file), value) || ::access(tasks.c_str(), W_OK) != 0) return;
    files_.push_back(tasks);
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
  group.limit_the_rest(is_root);
  return group;
}

ResourceGroup ResourceGroup::shared(const SandboxLimits& limits, const std::vector<std::string>& files, bool is_root) {
  ResourceGroup group;
  group.limits_ = limits;
  group.files_ = files;
  group.shared_ = true;
  for (const std::string& file : files) {
    const std::string folder = parent_path(file);
    const auto is_limited = [&](const char* name) {
      const auto value = read_file(join_path(folder, name));
      return value && !value->starts_with("max") && !value->starts_with("-1");
    };
    if (limits.processes > 0 && is_limited("pids.max")) group.processes_ = LimitBy::kGroup;
    if (limits.memory_bytes > 0 && (is_limited("memory.max") || is_limited("memory.limit_in_bytes")))
      group.memory_ = LimitBy::kGroup;
    if (limits.cpu_percent > 0 && (is_limited("cpu.max") || is_limited("cpu.cfs_quota_us")))
      group.cpu_ = LimitBy::kGroup;
  }
  group.limit_the_rest(is_root);
  return group;
}

// Inside, each user namespace counts its own processes. The kernel does not enforce the process limit for root.
void ResourceGroup::limit_the_rest(bool is_root) {
  if (processes_ == LimitBy::kNothing && limits_.processes > 0 && !is_root) processes_ = LimitBy::kProcess;
  if (memory_ == LimitBy::kNothing && limits_.memory_bytes > 0) memory_ = LimitBy::kProcess;
}

LimitsInside ResourceGroup::inside() const {
  return {processes_ == LimitBy::kProcess ? limits_.processes : 0,
          memory_ == LimitBy::kProcess ? limits_.memory_bytes : 0};
}

std::string ResourceGroup::describe() const {
  const std::string_view together = shared_ ? "cgroup, with its task" : "cgroup";
  const auto one = [&](std::string_view what, const std::string& value, LimitBy by, std::string_view each) {
    if (by == LimitBy::kNothing) return fmt::format("{} not limited", what);
    return fmt::format("{} {} ({})", what, value, by == LimitBy::kGroup ? together : each);
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
