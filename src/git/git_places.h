// Where git keeps a project's data, and what a sandbox may do there: a commit works inside, while nothing written there
// can make the host's git run a program. Pure: the files are those of a MachineView.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/machine_view.h"

namespace ralph {

struct GitPlaces {
  std::string top;                      // the work tree's folder: the project or a parent of it
  std::string entry;                    // its `.git`
  std::string git_dir;                  // `.git` itself, or what the file `.git` names
  std::string common_dir;               // of a linked work tree; otherwise equal to git_dir
  std::string branch;                   // "refs/heads/x"; empty if none is checked out
  std::vector<std::string> alternates;  // object folders of the repositories it shares objects with
  bool linked() const { return common_dir != git_dir; }
};

// nullopt if the project is not in a repository.
std::optional<GitPlaces> find_git_places(const std::string& project, const MachineView& machine);

// Fails if the project names a repository elsewhere that does not name the project. A program in a sandbox can write
// anything into a `.git` that did not exist before, and the next sandbox would open what it names.
Status expect_own_repository(const GitPlaces& git, const std::string& project, const MachineView& machine);

// What a sandbox may do with the repository, in this order: later entries overrule earlier ones. Paths that must not
// appear are added to `forbidden`.
struct GitAccess {
  std::string path;
  bool writable = false;
  std::string why;
};
std::vector<GitAccess> git_access(const GitPlaces& git, const MachineView& machine,
                                  std::vector<std::string>& forbidden);

}  // namespace ralph
