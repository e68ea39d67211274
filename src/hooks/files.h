// The files in which hosts keep their hooks: where they are, and how ralph changes one. A file is replaced whole or not
// at all, what it was is kept beside it, and two ralphs take turns.
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
  Host host = Host::kClaude;
  bool user = false;   // of the user, for all projects
  std::string folder;  // "/home/me/.claude"
  std::string path;    // "/home/me/.claude/settings.json"
  std::string shown;   // as people are told: below the project it is relative
};

// CLAUDE_CONFIG_DIR, CODEX_HOME and GEMINI_CLI_HOME move a user's file as they do for the host.
Result<HookFile> hook_file(Host host, bool user, const Environment& environment, const std::string& project);

bool is_same_file(const std::string& a, const std::string& b);  // both are there, and are one

// Nothing: it is not there. A symbolic link is followed for a user's own file, as managers of dotfiles use them; in a
// project it is refused, because an agent could have put it there to make ralph write elsewhere.
Result<std::optional<std::string>> read_to_change(const HookFile& file);

// Held while a file is read and replaced. The folder must be there.
Result<Fd> lock_folder(const std::string& folder);

// A copy of `text` beside the file, with its mode: settings.json.ralph-backup-20261115-202233. Returns its path.
Result<std::string> back_up(const HookFile& file, std::string_view text, WallTime now);
std::vector<std::string> backups_of(const HookFile& file);  // paths, the newest first

// Through a link that read_to_change allows.
Status write_changed(const HookFile& file, std::string_view text);

// What a hook should call: the bare name if that finds this very program on PATH, so that a project's settings serve
// all who share them and a host sees that the hooks of project and user are the same; else the whole path.
Result<std::string> program_for_hooks(const Environment& environment);

}  // namespace ralph
