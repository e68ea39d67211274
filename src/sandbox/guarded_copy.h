// Where no mount can protect a file: what it was before a program ran, so that it can be put back afterwards.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/plan.h"

namespace ralph {

class GuardedCopy {
 public:
  // The files of the project that `plan` protects: what it mounts read-only there, and what must not appear. Of .ralph,
  // only the settings: a run writes there itself.
  static GuardedCopy of(const SandboxPlan& plan);

  // Puts back what was changed or removed; what it replaces, and what is new, is moved to .ralph/taken. Returns a line
  // for each.
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
