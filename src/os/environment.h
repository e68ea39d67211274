// The environment of a process as a value, so that what a child sees is decided in one place and can be shown.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ralph {

class Environment {
 public:
  static Environment of_this_process();

  void set(std::string name, std::string value) { variables_[std::move(name)] = std::move(value); }
  void unset(const std::string& name) { variables_.erase(name); }
  std::optional<std::string> get(const std::string& name) const;
  std::vector<std::string> as_lines() const;  // "NAME=value", sorted

 private:
  std::map<std::string, std::string> variables_;
};

// The file that `program` names: a path as it is (relative ones from `folder`), a bare name through PATH.
// Errors tell "not found" from "found but not executable".
Result<std::string> resolve_program(const std::string& program, const Environment& environment,
                                    const std::string& folder);

}  // namespace ralph
