// The rules of the command policy. Each examines one command of a reading and returns an objection, if any.
#pragma once

#include <initializer_list>
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

  bool is(std::initializer_list<std::string_view> names) const;
  bool flag(char letter) const;              // -x, also within -axb
  bool option(std::string_view name) const;  // --name, --name=value, or an abbreviation of it
  bool has(std::string_view word) const;     // exactly this word
  std::string operand(size_t i) const;       // empty if out of range
  // The value of an option that takes one: -o X, -oX, --output X, --output=X.
  std::optional<std::string> value(char letter, std::string_view name) const;

  std::vector<std::string> paths(std::string_view word) const { return paths_of(word, command.cwd, place); }
  std::vector<std::string> written() const;  // paths that it writes: > tee cp mv dd sed -i ...
  std::vector<std::string> deleted() const;  // paths that it deletes or moves away
  std::vector<std::string> read() const;     // paths whose content it reads

  // Whether a command of the span (at any depth) is one of these programs.
  using Names = std::span<const std::string_view>;
  bool span_has(ShellSpan span, Names names) const;
  bool span_has(ShellSpan span, std::initializer_list<std::string_view> names) const {
    return span_has(span, Names(names.begin(), names.size()));
  }
  std::vector<ShellSpan> pipe() const;  // its input through pipes, the nearest first
  // The same for all inputs of this command: pipe, substitutions in its words, redirections.
  bool fed_by(Names names) const;
  bool fed_by(std::initializer_list<std::string_view> names) const {
    return fed_by(Names(names.begin(), names.size()));
  }
};

using Finding = std::optional<std::string>;

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
