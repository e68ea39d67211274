// Reads a command line as a POSIX shell or bash reads it, without running anything: which programs it would start, with
// which words. Quoting, `$'..'`, braces, `~`, literal variables, `cd`, substitutions whose output can be known (`$(echo
// rm)`, `| base64 -d`), here-documents, functions, loops over literal words, `eval`, `sh -c`, `sudo`, `xargs`, `find
// -exec` and their kin are seen through: the list that comes back is flat, and a command that another one runs follows
// it, with `via` naming it.
//
// Pure, and good for any bytes: time and memory are linear in the text (nesting, expansion and repeated reading have
// fixed limits; `cut_short` says that one was met). What can't be known is kUnknownPart. A shell that is wrong is read
// as far as sense can be made of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

// Stands in a word for a part that only a running shell knows: the value of `$x`, the output of `$(date)`.
inline constexpr char kUnknownPart = '\xff';

// Commands [first, last) of a reading, of those as deep in substitutions as `level`.
struct ShellSpan {
  int first = 0, last = 0, level = 0;
  bool empty() const { return first >= last; }
};

struct ShellWord {
  std::string text{};                // quoting resolved; unquoted * ? [ stay as they are
  std::vector<ShellSpan> sources{};  // the substitutions whose output is in it and is not known

  bool unknown() const { return text.find(kUnknownPart) != std::string::npos; }
};

struct ShellAssignment {
  std::string name;
  ShellWord value;
};

struct ShellRedirection {
  std::string op;    // > >> >| < <> >& <& &> &>> << <<<
  int fd = -1;       // -1: the operator's own
  ShellWord target;  // a file, a descriptor, or the text of a here-document
};

struct ShellCommand {
  std::vector<ShellWord> words{};  // empty: assignments alone, or the redirections of a compound command
  std::vector<ShellAssignment> assignments{};
  std::vector<ShellRedirection> redirections{};
  std::string cwd{};                 // where it runs; kUnknownPart in it: not known
  ShellSpan input{};                 // the commands whose output it reads through a pipe
  int level = 0;                     // how deep in substitutions
  int via = -1;                      // the command that runs this one; -1: written on the line
  int piped_to = -1;                 // the first command that reads its output through a pipe; -1: none
  bool in_definition = false;        // in a function's body, read where it is defined and not where it is called
  bool calls_itself = false;         // a call of the function it stands in, in a pipe or in the background
  bool spawned_forever = false;      // in the background of a loop that never ends and never waits
  bool unknown_script = false;       // a shell that runs what nobody can read from here
  std::optional<std::string> fed{};  // what it reads on standard input, as far as that is written on the line

  const std::string& word(size_t i) const;  // empty if there are not so many
};

struct ShellReading {
  std::vector<ShellCommand> commands;
  bool cut_short = false;  // nested too deep or too large: not all of it was read
};

struct ShellSetting {
  std::string home, cwd;                         // absolute
  std::map<std::string, std::string> variables;  // others that are known
};

ShellReading read_shell(std::string_view text, const ShellSetting& setting);

// The text with unknown parts as "…" and newlines as blanks, for people.
std::string readable(std::string_view text);
std::string readable(const ShellCommand& command);

}  // namespace ralph
