// The language servers that ralph knows, one row for each: how it is started, which files it handles, and how it
// signals that it has finished with a file.
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

// What counts as a server's final answer about a file. It must be about the exact version that was sent: a server that
// is still working has found nothing yet, and that does not mean clean.
enum class FinalAnswer {
  kAnswer,    // the answer to textDocument/diagnostic if offered, else diagnostics published with the version
  kPulled,    // publishes several times per version: only the answer counts; a server that offers none is too old
  kTsserver,  // publishes several times, without versions: its tsserver is queried through it
  kFlycheck,  // pulled, plus what `cargo check` publishes after the file was saved
};

struct ServerRow {
  std::string_view name;                   // also the name of its collector
  std::span<const std::string_view> argv;  // the command line; argv[0] is a name to search for
  std::span<const Language> languages;
  std::span<const std::string_view> configured_by;  // files in the project's root; one is enough
  std::string_view database;  // one that may also be in a build folder, which is then passed to the server; empty: none
  std::span<const std::string_view> watched;   // names of other files whose changes it must be told about
  std::span<const std::string_view> replaces;  // collectors that can skip a file it has checked
  FinalAnswer final_answer;
  std::string_view options;   // initializationOptions, JSON; empty: none
  std::string_view settings;  // for workspace/configuration: JSON, by section; empty: none
  std::string_view how_to_install;
};

std::span<const ServerRow> all_servers();
const ServerRow* server_named(std::string_view name);  // nullptr if there is none

// The languageId of a file; empty if the server does not handle it.
std::string_view language_of(const ServerRow& row, std::string_view path);

// The endings of the files it handles.
std::vector<std::string_view> endings_of(const ServerRow& row);

// The command line. The program is searched in the project's own tool folders, on PATH, and on PATH with a version
// suffix (clangd-19). Empty if it is not found.
std::vector<std::string> command_of(const ServerRow& row, const diagnostics::ProjectView& project);

// Whether the project is set up for it: it has a file that it handles and one that configures it.
bool is_for(const ServerRow& row, const diagnostics::ProjectView& project);

}  // namespace ralph::lsp
