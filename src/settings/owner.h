// Whose files are believed: those of this user and of root, as git has it for repositories (safe.directory). A file
// that another user has put somewhere must not steer what runs here.
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

  // What these folders hold is believed whoever it belongs to: `trustedFolders` of the user's own settings.
  void accept(std::vector<std::string> folders) { accepted_ = std::move(folders); }

  bool include(uid_t user) const;

  // Why `file` below `project` is not believed: it, or a folder from it up to the project's own, belongs to somebody
  // else. Empty: it is believed, or is not there. A symlink counts with what it leads to.
  std::string fault(const std::string& project, std::string_view file) const;

  // The same for a project that was found by searching upward: it must not be a folder where everybody may put things.
  std::string fault_above(const std::string& project, std::string_view file) const;

 private:
  bool is_accepted(const std::string& project) const;

  std::vector<uid_t> users_;
  std::vector<std::string> accepted_;
};

// Those of this process, with the folders that the user's own settings accept. A user's file that can't be read
// accepts none: load_settings() says what is wrong with it.
Owners owners_of(const Environment& environment);

// fault() as an error that says how to accept the folder.
Status expect_own(const Owners& owners, const std::string& project, std::string_view file);

}  // namespace ralph
