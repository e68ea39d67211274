// The rules of the command policy: a table (rule_table.cc) of programs, verbs, options and a sentence, and functions
// for what a row can't express. Each rule examines one command of a reading and returns a finding, if any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/paths.h"
#include "policy/shell/lexer.h"

namespace ralph {

// A command with its words parsed, as nearly every rule needs it.
class Subject {
 public:
  // `as`: the actual program, if it is known to run under another name.
  Subject(const ShellReading& all, size_t at, const PolicyPlace& where, std::string_view as = {});

  const ShellReading& reading;
  const ShellCommand& command;
  const PolicyPlace& place;
  int index = 0;
  std::string program;                                   // without its folder; empty if there is none
  std::vector<std::string> operands;                     // words that are not options; for git, from its verb on
  bool runs_unknown = false;                             // it runs a program whose name is unknown
  const std::vector<std::string>* downloaded = nullptr;  // files fetched by earlier commands
  const std::vector<std::string>* made = nullptr;        // files that earlier commands generated from other text

  // In all lists, words are separated by blanks.
  bool is(std::string_view programs) const;
  // Whether its first operands are one of these verbs: "push", "auth/token" (the first two), ".../delete" (any one),
  // ".../db/drop" (any two in a row). A part may begin or end with `*`: any text.
  bool does(std::string_view verbs) const;
  bool flag(char letter) const;              // -x, also within -axb
  bool option(std::string_view name) const;  // --name, --name=value, or an abbreviation of it
  bool has(std::string_view words) const;    // exactly one of these words
  // Whether it has one of these: a letter (-f), a long name (--force), or any other word literally. "-f&-a": both.
  bool has_option(std::string_view options) const;
  std::string operand(size_t i) const;  // empty if out of range
  // The value of an option that takes one: -o X, -oX, --output X, --output=X.
  std::optional<std::string> value(char letter, std::string_view name) const;

  // Like paths_of(); empty if the effort is used up.
  std::vector<std::string> paths(std::string_view word, LastPart last = LastPart::kFollowed) const;
  const std::vector<std::string>& written() const;  // paths that it writes: > tee cp mv dd sed -i ...
  const std::vector<std::string>& deleted() const;  // paths that it deletes or moves away
  const std::vector<std::string>& emptied() const;  // paths whose content it discards: > truncate
  const std::vector<std::string>& edited() const;   // those, and the ones that it edits in place: sed -i
  const std::vector<std::string>& read() const;     // paths whose content it reads
  // The first path of the operands after the first that is neither in the project nor temporary.
  std::optional<std::string> foreign_operand() const;
  bool is_recursive() const;

  // Whether a command of the span (at any depth) is one of these programs.
  bool span_has(ShellSpan span, std::string_view programs) const;
  std::vector<ShellSpan> pipe() const;     // its input through pipes, nearest first
  std::vector<ShellSpan> origins() const;  // those, and the substitutions in its words
  // span_has() for all inputs of this command: pipe, substitutions in its words, redirections.
  bool fed_by(std::string_view programs) const;
  std::string runner() const;  // the program that runs this command; empty: the shell itself

 private:
  void add_paths(std::vector<std::string>& to, std::vector<std::string> more) const;
  std::vector<std::string> find_written() const;
  std::vector<std::string> find_deleted() const;
  std::vector<std::string> find_read() const;

  mutable std::optional<std::vector<std::string>> written_, deleted_, read_;
  mutable std::vector<std::string> emptied_;
  mutable size_t bytes_of_paths_ = 0;
};

// What is wrong with a command.
struct Finding {
  Finding() = default;
  // A rule returns one of these.
  Finding(std::nullopt_t) {}                                                 // NOLINT(google-explicit-constructor)
  Finding(std::string sentence) : what(std::move(sentence)), found(true) {}  // NOLINT(google-explicit-constructor)
  Finding(const char* sentence) : Finding(std::string(sentence)) {}          // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return found; }

  std::string what{};
  bool found = false;
  bool only_asked = false;  // its effect is known only at run time; a person may know it
};
inline Finding ask(std::string sentence) {
  Finding finding(std::move(sentence));
  finding.only_asked = true;
  return finding;
}

// The categories of docs/formats/hooks.md, in the order in which they are checked.
enum class Category : unsigned char {
  kTamperRalph,
  kDeleteProject,
  kDeleteOutside,
  kDeviceWrite,
  kCredentialRead,
  kReverseShell,
  kDownloadAndRun,
  kExfiltration,
  kHistoryRewrite,
  kDiscardWork,
  kPrivilege,
  kPermissions,
  kPersistence,
  kExhaustion,
  kKillProcesses,
  kSystemChange,
  kNetworkChange,
  kDatabase,
  kInfrastructure,
  kPublish,
  kContainers,
  kObfuscated,
};
inline constexpr size_t kCategoryCount = static_cast<size_t>(Category::kObfuscated) + 1;

// A row: what is wrong with these programs, or with certain verbs or options of theirs.
struct Rule {
  Category category;
  std::string_view programs;    // separated by blanks; "python*" means any that begins like this; empty: every command
  std::string_view verbs{};     // as for Subject::does; empty: any
  std::string_view options{};   // as for Subject::has_option, one is needed; empty: none is
  std::string_view unless{};    // ... and none of these may be present
  std::string_view sentence{};  // "{}" in it is the program
  Finding (*look)(const Subject&) = nullptr;  // for what a row can't express
};

// The first finding of the table in a category that is on. A later denial takes precedence over a question.
struct Offence {
  Category category{};
  Finding finding{};
};
std::optional<Offence> offence_of(const Subject& subject, const std::vector<bool>& is_on);

// rules_files.cc
Finding tampers_with_ralph(const Subject& subject);
Finding steers_hooks(const Subject& subject);
Finding ends_host(const Subject& subject);
Finding empties_project(const Subject& subject);
Finding deletes_project(const Subject& subject);
Finding deletes_outside(const Subject& subject);
Finding deletes_unknown(const Subject& subject);
Finding writes_to_device(const Subject& subject);
Finding changes_disks(const Subject& subject);
Finding reads_credentials(const Subject& subject);
Finding loosens_permissions(const Subject& subject);
Finding loosens_access_lists(const Subject& subject);
Finding writes_start_up_file(const Subject& subject);
Finding preloads_library(const Subject& subject);
Finding writes_system_file(const Subject& subject);
// rules_flow.cc
Finding opens_reverse_shell(const Subject& subject);
Finding runs_download(const Subject& subject);
Finding is_obfuscated(const Subject& subject);
// rules_upload.cc
Finding uploads_by_http(const Subject& subject);
Finding sends_files(const Subject& subject);
Finding copies_to_bucket(const Subject& subject);
Finding sends_to_socket(const Subject& subject);
Finding sends_by_ssh(const Subject& subject);
Finding looks_up_data(const Subject& subject);
Finding mails_data(const Subject& subject);
Finding writes_to_network(const Subject& subject);
// rules_git.cc
Finding pushes_elsewhere(const Subject& subject);
Finding forces_by_refspec(const Subject& subject);
Finding cleans_all(const Subject& subject);
Finding discards_all(const Subject& subject);
Finding passes_program_to_git(const Subject& subject);
Finding configures_program_for_git(const Subject& subject);
// rules_system.cc
Finding sets_user_bit(const Subject& subject);
Finding changes_owner(const Subject& subject);
Finding mounts_whole_disk(const Subject& subject);
Finding spawns_forever(const Subject& subject);
Finding fills_disk(const Subject& subject);
Finding makes_huge_file(const Subject& subject);
Finding forks_forever(const Subject& subject);
Finding ends_by_signal(const Subject& subject);
Finding ends_by_pattern(const Subject& subject);
Finding changes_interfaces(const Subject& subject);
// rules_services.cc
bool is_for_tests(const Subject& subject);  // it concerns a test database
Finding destroys_by_sql(const Subject& subject);
Finding empties_key_store(const Subject& subject);
Finding deletes_all_records(const Subject& subject);
Finding drops_documents(const Subject& subject);
Finding deletes_from_cluster(const Subject& subject);
Finding deletes_all_containers(const Subject& subject);

}  // namespace ralph
