// Copies of files that no mount can protect, taken before a program runs so that they can be restored afterwards.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/plan.h"

namespace ralph {

class GuardedCopy {
 public:
  // The project files that `plan` protects: those it mounts read-only, and those that must not appear. In .ralph, only
  // the settings: the run itself writes there.
  static GuardedCopy of(const SandboxPlan& plan);

  // Restores files that were changed or removed. What it replaces, and what is new, is moved to .ralph/taken. Returns a
  // line for each.
  Result<std::vector<std::string>> put_back(std::string_view time) const;

 private:
  struct File {
    std::string content;
    unsigned mode = 0;
    bool operator==(const File&) const = default;
  };
  using Files = std::map<std::string, File>;
  static Files read(const std::vector<std::string>& paths);

  std::string project_;
  std::vector<std::string> paths_;
  Files files_;
};

}  // namespace ralph
