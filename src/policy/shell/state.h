// The state that a shell keeps between commands, as far as the command line reveals it: variables, functions, the
// working directory. A subshell's changes are undone when it ends, at a cost proportional to them.
#pragma once

#include <map>
#include <memory>
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
    kEach,   // one of these: a loop variable, or one set in an `if`
  };
  std::vector<std::string> values{};  // may contain kUnknownPart
  Kind kind = Kind::kText;
  std::vector<ShellSpan> sources{};

  static ShellVariable of(std::string value) { return {{std::move(value)}}; }
};

class ShellState {
 public:
  struct Mark {
    size_t changes = 0;
    SharedText cwd;
    std::shared_ptr<const std::vector<std::string>> positional;
  };

  explicit ShellState(const ShellSetting& setting);

  const ShellVariable* find(std::string_view name) const;
  void set(const std::string& name, ShellVariable value);
  // Like `set` for a command that may not run: the old value remains possible.
  void set_maybe(const std::string& name, ShellVariable value);
  void unset(const std::string& name);

  Mark mark() const { return {changes_.size(), cwd, positional}; }
  void undo_to(Mark mark);

  std::string separators() const;
  void change_folder(const std::string& to);  // kUnknownPart in `to`: unknown from now on

  std::string home;
  SharedText cwd;
  std::shared_ptr<const std::vector<std::string>> positional;  // $1, $2, ...; nullptr: unknown
  std::map<std::string, std::string, std::less<>> functions;   // name -> body, as written

 private:
  std::map<std::string, ShellVariable, std::less<>> variables_;
  std::vector<std::pair<std::string, std::optional<ShellVariable>>> changes_;
};

}  // namespace ralph
