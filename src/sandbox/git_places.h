// Where git keeps what belongs to a project, so that a commit works inside a sandbox and nothing there makes the
// host's git run a program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace ralph {

struct GitPlaces {
  std::string top;                      // the work tree's folder: the project, or above it
  std::string entry;                    // its `.git`
  std::string git_dir;                  // `.git` itself, or what the file `.git` names
  std::string common_dir;               // of a work tree that was added to a repository; else equal to git_dir
  std::string branch;                   // "refs/heads/x"; empty if none is checked out
  std::vector<std::string> alternates;  // object folders of repositories that it shares objects with
  bool linked() const { return common_dir != git_dir; }
};

// nullopt: the project is not in a repository.
std::optional<GitPlaces> find_git_places(const std::string& project, const MachineView& machine);

// Fails if the project names a repository elsewhere that does not name the project: inside a sandbox anything can be
// written into a `.git` that was not there, and the next sandbox would open what it says.
Status expect_own_repository(const GitPlaces& git, const std::string& project, const MachineView& machine);

// The mounts for it. `forbidden` gets the paths that must not appear.
std::vector<Mount> git_mounts(const GitPlaces& git, const MachineView& machine, std::vector<std::string>& forbidden);

}  // namespace ralph
