// The files in which hosts keep their hooks: where they are, and how ralph changes one. A file is replaced atomically,
// its previous content is kept beside it, and a lock keeps two ralphs apart.
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
  bool user = false;   // of the user, for all projects
  std::string folder;  // "/home/me/.claude"
  std::string path;    // "/home/me/.claude/settings.json"
  std::string shown;   // for people: relative if it is in the project
};

Result<HookFile> hook_file(const Host& host, bool user, const Environment& environment, const std::string& project);

// Whether the host runs the hooks of this file only after the user has trusted them, or their folder.
bool needs_trust(const HookFile& file);

// Nothing: the file does not exist. A symbolic link is followed for a user's own file, because dotfile managers use
// them. In a project it is refused: an agent could have made it, so that ralph writes elsewhere.
Result<std::optional<std::string>> read_to_change(const HookFile& file);

// Hold the lock while a file is read and replaced. The folder must exist.
Result<Fd> lock_folder(const std::string& folder);

// A copy of `text` beside the file, with its mode: settings.json.ralph-backup-20261115-202233. Returns its path.
Result<std::string> back_up(const HookFile& file, std::string_view text, WallTime now);
std::vector<std::string> backups_of(const HookFile& file);  // paths, newest first

// Follows a link that read_to_change allows.
Status write_changed(const HookFile& file, std::string_view text);

// What a hook should call: the bare name if PATH leads to this very program, otherwise the full path. With the bare
// name, everyone who shares a project can use its settings, and a host sees that the hooks of project and user are the
// same.
Result<std::string> program_for_hooks(const Environment& environment);

}  // namespace ralph
