// A place whose content makes other programs run code (see checks/triggers.h), the files that it has now, and which
// part of them is compared.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/lstat_cache.h"
#include "json/fields.h"

namespace ralph {

enum class TriggerKind {
  kFile,              // all of it
  kFolder,            // all files below it, including new ones; sample hooks do nothing
  kGitConfig,         // the settings that name programs
  kGitFolders,        // of submodules and work trees below it: configuration, hooks, attributes
  kAttributes,        // lines about filters, drivers, idents and diffs
  kJson,              // the members `keys`
  kProgram,           // all files of `keys`, which form one program: restored all together or not at all
  kRepository,        // that it exists and is the same: `keys` has git_dir, common_dir, folder and commit of its mark
  kPlainFile,         // that it is not a pipe, socket or device, whatever its content: reading one may block forever
  kRepositoryConfig,  // as kGitConfig, and what the repository is, hides and pushes to: `keys` has the user's remotes
};
template <>
inline constexpr int kNumbered<TriggerKind> = 10;

struct TriggerPlace {
  std::string path;  // absolute
  TriggerKind kind = TriggerKind::kFile;
  bool put_back = true;             // false: a change is only reported
  std::string why{};                // for people: "git runs it"
  std::vector<std::string> keys{};  // see TriggerKind; for kFolder, entries that are not triggers

  template <class V>
  void fields(V&& v) {
    v("path", path), v("kind", kind), v("putBack", put_back), v("why", why), v("keys", keys);
  }
};

// The files that currently exist at a place, by path, each with its own place.
std::map<std::string, TriggerPlace> files_of(const TriggerPlace& place, LstatCache& lstats);

// The place of a single file within `place`.
TriggerPlace file_of(const TriggerPlace& place, std::string path, TriggerKind kind);

bool is_whole(TriggerKind kind);  // the whole file is compared, and its mode
bool has_part(const TriggerPlace& program, const std::string& path);

// For files that other tools also use: the compared part of a text, and `now` with that part restored from `before`.
std::string compared_part(const TriggerPlace& place, const std::string& text);
std::string with_part_of(const TriggerPlace& place, const std::string& before, const std::string& now);

// The names of settings that differ: "core.hooksPath", "permissions"; or a note that they can't be read. Empty if the
// file has no settings.
std::vector<std::string> changed_names(const TriggerPlace& place, const std::string& before, const std::string& now);

}  // namespace ralph
