// The findings of `ralph doctor`, shared by its parts.
#pragma once

#include <string>
#include <vector>

#include "os/environment.h"

namespace ralph::cli {

enum class Health { kOk, kNote, kProblem };

struct HealthFinding {
  Health health;
  std::string what;
  std::string detail;
  std::string fix{};  // what to do about it
};

class HealthReport {
 public:
  void ok(std::string what, std::string detail) { all_.push_back({Health::kOk, std::move(what), std::move(detail)}); }
  void note(std::string what, std::string detail, std::string fix = {}) {
    all_.push_back({Health::kNote, std::move(what), std::move(detail), std::move(fix)});
  }
  void problem(std::string what, std::string detail, std::string fix = {}) {
    all_.push_back({Health::kProblem, std::move(what), std::move(detail), std::move(fix)});
  }
  const std::vector<HealthFinding>& all() const { return all_; }

 private:
  std::vector<HealthFinding> all_;
};

// The first line that `program --version` prints; empty if it prints nothing or fails.
std::string version_of(const std::string& program, const Environment& environment);

// Checks the plugin and the hooks of all hosts, both those of this project and those of the user.
void check_hooks(HealthReport& findings, const Environment& environment, const std::string& project);

}  // namespace ralph::cli
