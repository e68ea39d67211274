// The rules of the command policy. Each examines one command of a reading and returns an objection, if any.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/paths.h"
#include "policy/shell/lexer.h"

namespace ralph {

// A command with its words parsed, as nearly every rule needs it.
class Subject {
 public:
  Subject(const ShellReading& all, size_t at, const PolicyPlace& where);

  const ShellReading& reading;
  const ShellCommand& command;
  const PolicyPlace& place;
  int index = 0;
  std::string program;                                   // without its folder; empty if there is none
  std::vector<std::string> operands;                     // words that are not options
  bool runs_unknown = false;                             // it runs a program whose name is unknown
  const std::vector<std::string>* downloaded = nullptr;  // files fetched by earlier commands

  // All lists of words are separated by blanks.
  bool is(std::string_view programs) const;
  // Whether its first operand, or its first two as "first/second", are one of these.
  bool does(std::string_view verbs) const;
  bool flag(char letter) const;              // -x, also within -axb
  bool option(std::string_view name) const;  // --name, --name=value, or an abbreviation of it
  bool has(std::string_view words) const;    // exactly one of these words
  std::string operand(size_t i) const;       // empty if out of range
  // The value of an option that takes one: -o X, -oX, --output X, --output=X.
  std::optional<std::string> value(char letter, std::string_view name) const;

  std::vector<std::string> paths(std::string_view word) const { return paths_of(word, command.cwd, place); }
  std::vector<std::string> written() const;  // paths that it writes: > tee cp mv dd sed -i ...
  std::vector<std::string> deleted() const;  // paths that it deletes or moves away
  std::vector<std::string> read() const;     // paths whose content it reads
  // The first path of the operands after the first that is neither in the project nor temporary.
  std::optional<std::string> foreign_operand() const;

  // Whether a command of the span (at any depth) is one of these programs.
  bool span_has(ShellSpan span, std::string_view programs) const;
  std::vector<ShellSpan> pipe() const;     // its input through pipes, the nearest first
  std::vector<ShellSpan> origins() const;  // the same and the substitutions in its words
  // span_has() for all inputs of this command: pipe, substitutions in its words, redirections.
  bool fed_by(std::string_view programs) const;
};

using Finding = std::optional<std::string>;

// A row of a rule: what is wrong with these programs, or with these verbs of theirs.
struct CallRow {
  std::string_view programs;
  std::string_view verbs;  // as for Subject::does; empty: any
  std::string_view finding;
};
Finding first_call(const Subject& subject, std::span<const CallRow> rows);

// rules_files.cc
Finding tampers_with_ralph(const Subject& subject);
Finding deletes_project(const Subject& subject);
Finding deletes_outside(const Subject& subject);
Finding writes_to_device(const Subject& subject);
Finding reads_credentials(const Subject& subject);
Finding loosens_permissions(const Subject& subject);
Finding persists(const Subject& subject);
// rules_flow.cc
Finding opens_reverse_shell(const Subject& subject);
Finding runs_download(const Subject& subject);
Finding exfiltrates(const Subject& subject);
Finding is_obfuscated(const Subject& subject);
// rules_git.cc
Finding rewrites_history(const Subject& subject);
Finding discards_work(const Subject& subject);
// rules_system.cc
Finding changes_privileges(const Subject& subject);
Finding exhausts_resources(const Subject& subject);
Finding kills_others(const Subject& subject);
Finding changes_system(const Subject& subject);
Finding changes_network(const Subject& subject);
// rules_services.cc
Finding destroys_database(const Subject& subject);
Finding destroys_infrastructure(const Subject& subject);
Finding publishes(const Subject& subject);
Finding deletes_containers(const Subject& subject);

}  // namespace ralph
