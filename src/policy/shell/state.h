// What a shell remembers from one command to the next, as far as it can be known from the line: variables, functions,
// the folder it stands in. What a subshell changes is undone when it ends, at the cost of what it changed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/shell/lexer.h"

namespace ralph {

struct ShellVariable {
  enum class Kind {
    kText,   // one value
    kArray,  // a list
    kEach,   // one of these: a loop's variable, or one that was set in an `if`
  };
  std::vector<std::string> values{};  // may hold kUnknownPart
  Kind kind = Kind::kText;
  std::vector<ShellSpan> sources{};

  static ShellVariable of(std::string value) { return {{std::move(value)}}; }
};

class ShellState {
 public:
  struct Mark {
    size_t changes = 0;
    std::string cwd;
    std::optional<std::vector<std::string>> positional;
  };

  explicit ShellState(const ShellSetting& setting);

  const ShellVariable* find(std::string_view name) const;
  void set(const std::string& name, ShellVariable value);
  // As `set`, where it is not certain that the command runs: the old value stays possible.
  void set_maybe(const std::string& name, ShellVariable value);
  void unset(const std::string& name);

  Mark mark() const { return {changes_.size(), cwd, positional}; }
  void undo_to(Mark mark);

  std::string separators() const;
  void change_folder(const std::string& to);  // kUnknownPart in `to`: nobody knows any more

  std::string home, cwd;
  std::optional<std::vector<std::string>> positional;         // $1, $2, ...; nothing: not known
  std::map<std::string, std::string, std::less<>> functions;  // name -> body, as written

 private:
  std::map<std::string, ShellVariable, std::less<>> variables_;
  std::vector<std::pair<std::string, std::optional<ShellVariable>>> changes_;
};

}  // namespace ralph
