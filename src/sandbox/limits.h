// Limits on what a sandbox may use: by a cgroup where this user may make one, else by limits of each process.
#pragma once

#include <string>
#include <vector>

#include "sandbox/bubblewrap.h"

namespace ralph {

// How a limit is enforced.
enum class LimitBy { kNothing, kGroup, kProcess };

// A cgroup of one run, removed when it goes. Without one, nothing is made.
class ResourceGroup {
 public:
  // Makes a group with as many of the limits as can be had.
  static ResourceGroup make(const SandboxLimits& limits, bool is_root);

  // That of another, which `files` are the entries to: what is in both is counted together. It is not removed.
  static ResourceGroup shared(const SandboxLimits& limits, const std::vector<std::string>& files, bool is_root);

  ResourceGroup() = default;
  ResourceGroup(ResourceGroup&& other) noexcept;
  ResourceGroup& operator=(ResourceGroup&& other) noexcept;
  ~ResourceGroup();

  const std::vector<std::string>& files() const { return files_; }  // for Launch::groups
  LimitsInside inside() const;                                      // what is left to setrlimit
  std::string describe() const;  // "processes 1024 (cgroup), memory 6 GB (each process)"
  LimitBy processes() const { return processes_; }
  LimitBy memory() const { return memory_; }
  LimitBy cpu() const { return cpu_; }

 private:
  void limit_the_rest(bool is_root);
  bool make_unified();
  void make_separate();
  std::string make_folder(const std::string& parent);  // empty: not allowed

  SandboxLimits limits_;
  std::vector<std::string> folders_, files_;
  bool shared_ = false;
  LimitBy processes_ = LimitBy::kNothing, memory_ = LimitBy::kNothing, cpu_ = LimitBy::kNothing;
};

// Three quarters of the machine's memory.
long long default_memory_limit();

}  // namespace ralph
