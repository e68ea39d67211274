// Decides whose files are trusted: those of this user and of root, like git's rule for repositories (safe.directory). A
// file that another user has planted must not control what runs here.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "os/environment.h"

namespace ralph {

// $XDG_CONFIG_HOME/ralph/settings.json, or ~/.config/ralph/settings.json: the user's own settings. Empty if neither is
// known.
std::string user_settings_file(const Environment& environment);

class Owners {
 public:
  // This user and root; for root under sudo also the user who called it.
  static Owners of_this_process(const Environment& environment);

  // Trusts everything in these folders, whoever owns it: `trustedFolders` of the user's own settings.
  void accept(std::vector<std::string> folders) { accepted_ = std::move(folders); }

  bool include(uid_t user) const;

  // Why `file` below `project` is not trusted: it, or a folder from it up to `project`, belongs to somebody else. Empty
  // if it is trusted or does not exist. For a symlink, both the link and its target count.
  std::string fault(const std::string& project, std::string_view file) const;

  // The same for a project that was found by searching upward: in addition, its folder must not be world-writable,
  // unless it has the sticky bit.
  std::string fault_above(const std::string& project, std::string_view file) const;

 private:
  bool is_accepted(const std::string& project) const;

  std::vector<uid_t> users_;
  std::vector<std::string> accepted_;
};

// The owners of this process, with the folders that the user's own settings accept. An unreadable settings file accepts
// none; load_settings() reports what is wrong with it.
Owners owners_of(const Environment& environment);

// fault() as an error that says how to accept the folder.
Status expect_own(const Owners& owners, const std::string& project, std::string_view file);

}  // namespace ralph
