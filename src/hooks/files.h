// The files in which hosts keep their hooks: where they are, and how ralph changes them. A file is replaced atomically,
// its previous content is backed up next to it, and a lock prevents concurrent changes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "hooks/host.h"
#include "os/environment.h"
#include "os/files.h"

namespace ralph {

struct HookFile {
  const Host* host = nullptr;
  bool user = false;   // the user's, for all projects
  std::string folder;  // "/home/me/.claude"
  std::string path;    // "/home/me/.claude/settings.json"
  std::string shown;   // for display: relative if it is in the project
};

Result<HookFile> hook_file(const Host& host, bool user, const Environment& environment, const std::string& project);

// Whether the host runs the hooks of this file only after the user has trusted them, or their folder.
bool needs_trust(const HookFile& file);

// nullopt if the file does not exist. For a user's own file, a symbolic link is followed, because dotfile managers use
// them. In a project it is refused: an agent could have created it to make ralph write elsewhere.
Result<std::optional<std::string>> read_to_change(const HookFile& file);

// Hold the lock while reading and replacing a file. The folder must exist.
Result<Fd> lock_folder(const std::string& folder);

// Writes a copy of `text` next to the file, with its mode: settings.json.ralph-backup-20261115-202233. Returns its
// path.
Result<std::string> back_up(const HookFile& file, std::string_view text, WallTime now);
std::vector<std::string> backups_of(const HookFile& file);  // paths, newest first

// Follows a link that read_to_change allows.
Status write_changed(const HookFile& file, std::string_view text);

// The program that a hook should call: the bare name if PATH finds this very program, otherwise the full path. With the
// bare name, everyone who shares a project can use its settings, and a host recognises that the project's and the
// user's hooks are the same.
Result<std::string> program_for_hooks(const Environment& environment);

}  // namespace ralph
