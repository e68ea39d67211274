// The language servers that ralph knows: one row for each. How it is started, which files are for it, and how it tells
// that it has finished with a file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checks/diagnostics/project_view.h"

namespace ralph::lsp {

struct Language {
  std::string_view ending, id;  // ".cc", "cpp"
};

// What counts as a server's last word about a file. It must be about the very version that was sent: a server that
// still thinks about it has found nothing yet, and that is not clean.
enum class LastWord {
  kAnswer,    // the answer to textDocument/diagnostic if it is offered, else diagnostics published with the version
  kPulled,    // publishes in parts for one version: only the answer counts, and one that offers none is too old
  kTsserver,  // publishes in parts and without versions: its tsserver is asked through it
  kFlycheck,  // pulled, and what `cargo check` publishes after the file was saved
};

struct ServerRow {
  std::string_view name;                   // also of its collector
  std::span<const std::string_view> argv;  // of the program, which is looked for by name; argv[0] is the name
  std::span<const Language> languages;
  std::span<const std::string_view> configured_by;  // files in the project's root: one of them is enough
  std::string_view database;  // one that may be in a build folder too, which the server is told then; empty: none
  std::span<const std::string_view> watched;   // names of other files whose change it must hear of
  std::span<const std::string_view> replaces;  // collectors that need not look at a file it has looked at
  LastWord last_word;
  std::string_view options;   // initializationOptions, JSON; empty: none
  std::string_view settings;  // for workspace/configuration: JSON, by section; empty: none
  std::string_view how_to_install;
};

std::span<const ServerRow> all_servers();
const ServerRow* server_named(std::string_view name);  // nullptr: there is none

// The languageId of a file; empty: the server is not for it.
std::string_view language_of(const ServerRow& row, std::string_view path);

// The endings of its files.
std::vector<std::string_view> endings_of(const ServerRow& row);

// The command line. Its program is looked for in the project's own folders for tools, on PATH, and on PATH with a
// version (clangd-19). Empty: there is none.
std::vector<std::string> command_of(const ServerRow& row, const diagnostics::ProjectView& project);

// Whether the project is set up for it: it has a file for it and one that configures it.
bool is_for(const ServerRow& row, const diagnostics::ProjectView& project);

}  // namespace ralph::lsp
