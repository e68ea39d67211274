// The environment of a process as a value: what a child sees is decided in one place and can be displayed.
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
  void set_line(std::string_view line);  // "NAME=value"; any other line is ignored
  void unset(const std::string& name) { variables_.erase(name); }
  std::optional<std::string> get(const std::string& name) const;
  std::vector<std::string> as_lines() const;  // "NAME=value", sorted

 private:
  std::map<std::string, std::string> variables_;
};

// The folder that an XDG variable names, or `fallback` below the home; empty if neither is known.
std::string user_folder(const Environment& environment, const std::string& variable, std::string_view fallback);

// The file that `program` refers to: a path is taken as is (relative to `folder`), a bare name is looked up in PATH.
// Errors distinguish "not found" from "found but not executable".
Result<std::string> resolve_program(const std::string& program, const Environment& environment,
                                    const std::string& folder);

}  // namespace ralph
