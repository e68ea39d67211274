// The environment of a process as a value: a child's environment is decided in one place and can be displayed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ralph {

class Environment {
 public:
  Environment() = default;
  Environment(const Environment&) = default;
  Environment& operator=(const Environment&) = default;
  // Moving leaves a valid object behind, as copies are cheap. NOLINTNEXTLINE(performance-move-constructor-init)
  Environment(Environment&& other) noexcept : variables_(other.variables_) {}
  Environment& operator=(Environment&& other) noexcept {
    variables_ = other.variables_;
    return *this;
  }
  ~Environment() = default;

  static Environment of_this_process();

  void set(std::string name, std::string value) { own()[std::move(name)] = std::move(value); }
  void set_line(std::string_view line);  // "NAME=value"; any other line is ignored
  void unset(const std::string& name) {
    if (variables_->contains(name)) own().erase(name);
  }
  std::optional<std::string> get(const std::string& name) const;
  std::vector<std::string> as_lines() const;  // "NAME=value", sorted
  size_t bytes() const;                       // as the kernel counts it when a program starts, including pointers

 private:
  using Variables = std::map<std::string, std::string>;
  Variables& own();  // not shared with any copy

  // Shared, because every launch gets a copy and hardly any copy is changed.
  std::shared_ptr<Variables> variables_ = std::make_shared<Variables>();
};

// The folder that an XDG variable names, or `fallback` below the home; empty if neither is known.
std::string user_folder(const Environment& environment, const std::string& variable, std::string_view fallback);

// The file that `program` refers to: a path is used as is (relative to `folder`), a bare name is looked up in PATH.
// Errors distinguish "not found" from "found but not executable".
Result<std::string> resolve_program(const std::string& program, const Environment& environment,
                                    const std::string& folder);

// PATH with the folders inside `project` moved to the end: an agent may have put a program there under the name of a
// system program.
std::string path_with_project_last(std::string_view path, const std::string& project);
Environment with_project_last(Environment environment, const std::string& project);

}  // namespace ralph
