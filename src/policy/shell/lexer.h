// Reads a command line like a POSIX shell or bash, without running anything: which programs it would start, with which
// words. Quoting, `$'..'`, braces, `~`, literal variables, `cd`, substitutions whose output can be known (`$(echo rm)`,
// `| base64 -d`), here-documents, functions, loops over literal words, `eval`, `sh -c`, `sudo`, `xargs`, `find -exec`
// and similar are resolved. The resulting list is flat: a command that another one runs follows it, and its `via` is
// the other's index. This is a pure function, safe for any bytes. Time and memory are linear in the text: nesting,
// expansion, repeated reading and the total work have fixed limits; `cut_short` says that one was reached. Unknown
// parts are kUnknownPart. Invalid syntax is read as far as possible.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/effort.h"

namespace ralph {

// Represents a part of a word that is known only at run time: the value of `$x`, the output of `$(date)`.
inline constexpr char kUnknownPart = '\xff';
// The file name that a process substitution passes to the command.
inline constexpr std::string_view kSubstituted = "/dev/fd/63";

// The commands in [first, last) of a reading that are at substitution depth `level`.
struct ShellSpan {
  int first = 0, last = 0, level = 0;
  bool empty() const { return first >= last; }
};

struct ShellWord {
  std::string text{};                // quoting resolved; unquoted * ? [ are kept
  std::vector<ShellSpan> sources{};  // the substitutions whose unknown output is in it

  bool unknown() const { return text.find(kUnknownPart) != std::string::npos; }
};

struct ShellAssignment {
  std::string name;
  ShellWord value;
};

struct ShellRedirection {
  std::string op;    // > >> >| < <> >& <& &> &>> << <<<
  int fd = -1;       // -1: the operator's default
  ShellWord target;  // a file, a descriptor, or the text of a here-document
};

// An immutable text with shared ownership: copying it copies a pointer.
class SharedText {
 public:
  SharedText() = default;
  // Implicit, so that it can be used like a string.
  SharedText(std::string text)  // NOLINT(google-explicit-constructor)
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  const std::string& str() const {
    static const std::string kNone;
    return text_ ? *text_ : kNone;
  }
  operator const std::string&() const { return str(); }  // NOLINT(google-explicit-constructor)

 private:
  std::shared_ptr<const std::string> text_;
};

struct ShellCommand {
  std::vector<ShellWord> words{};  // empty: only assignments, or redirections of a compound command
  std::vector<ShellAssignment> assignments{};
  std::vector<ShellRedirection> redirections{};
  SharedText cwd{};                  // may contain kUnknownPart
  ShellSpan input{};                 // the commands whose output it reads through a pipe
  int level = 0;                     // substitution depth
  int via = -1;                      // the command that runs this one; -1: the shell itself
  int piped_to = -1;                 // the first command that reads its output through a pipe; -1: none
  bool in_definition = false;        // in a function's body, read at the definition, not at a call
  bool read_again = false;           // it appears again later, with the input of the enclosing loop
  bool calls_itself = false;         // calls the enclosing function, in a pipe or in the background
  bool spawned_forever = false;      // in the background of an endless loop that never waits
  bool unknown_script = false;       // a shell whose script is unknown
  std::optional<std::string> fed{};  // standard input, as far as the command line reveals it

  const std::string& word(size_t i) const;  // empty if out of range
};

struct ShellReading {
  std::vector<ShellCommand> commands;
  bool cut_short = false;            // nested too deeply or too large: only partly read
  std::string project{};             // as in ShellSetting
  std::shared_ptr<Effort> effort{};  // of the whole decision; nullptr: not counted

  void pay(size_t units) const {
    if (effort) effort->spend(units);
  }
  std::span<const ShellCommand> in(ShellSpan span) const {
    if (span.empty()) return {};
    pay(static_cast<size_t>(span.last - span.first));
    return {&commands[static_cast<size_t>(span.first)], static_cast<size_t>(span.last - span.first)};
  }
};

struct ShellSetting {
  std::string home, cwd;                         // absolute
  std::map<std::string, std::string> variables;  // other known ones
  std::string project{};                         // the top of the repository; empty: unknown
  std::shared_ptr<Effort> effort{};              // nullptr: the reading creates its own
};

ShellReading read_shell(std::string_view text, const ShellSetting& setting);

// For display: the text with unknown parts as "…" and newlines as blanks.
std::string readable(std::string_view text);
std::string readable(const ShellCommand& command);

}  // namespace ralph
