// Resource limits for a sandbox: by a cgroup if this user may create one, otherwise by per-process limits.
#pragma once

#include <string>
#include <vector>

#include "sandbox/bubblewrap.h"

namespace ralph {

// How a limit is enforced.
enum class LimitBy { kNothing, kGroup, kProcess };

// The cgroup of one run, removed on destruction. A default-constructed one creates nothing.
class ResourceGroup {
 public:
  // Creates a group with as many of the limits as possible.
  static ResourceGroup make(const SandboxLimits& limits, bool is_root);

  // Joins an existing group; `files` are its entry files. Usage is counted together. The group is not removed.
  static ResourceGroup shared(const SandboxLimits& limits, const std::vector<std::string>& files, bool is_root);

  ResourceGroup() = default;
  ResourceGroup(ResourceGroup&& other) noexcept;
  ResourceGroup& operator=(ResourceGroup&& other) noexcept;
  ~ResourceGroup();

  const std::vector<std::string>& files() const { return files_; }  // for Launch::groups
  LimitsInside inside() const;                                      // what is left to setrlimit
  std::string describe() const;  // "processes 1024 (cgroup), memory 6 GB (rlimit, each process)"
  LimitBy processes() const { return processes_; }
  LimitBy memory() const { return memory_; }
  LimitBy cpu() const { return cpu_; }

 private:
  void limit_the_rest(bool is_root);
  bool make_unified();
  void make_separate();
  std::string make_folder(const std::string& parent);  // empty if not allowed

  SandboxLimits limits_;
  std::vector<std::string> folders_, files_;
  bool shared_ = false;
  LimitBy processes_ = LimitBy::kNothing, memory_ = LimitBy::kNothing, cpu_ = LimitBy::kNothing;
};

// Three quarters of the machine's memory.
long long default_memory_limit();

}  // namespace ralph
