// An environment in which git runs no hooks and no file system monitor, whatever the repository's settings say, and
// shows commits as they are. For a reviewer: its own commit must not run what another agent left behind, and it must
// not be shown other commits in place of those under review (refs/replace, grafts).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "os/environment.h"

namespace ralph {

// Tells a sandbox, which clears the environment, to keep git quiet inside too.
inline constexpr const char* kQuietGitVariable = "RALPH_QUIET_GIT";

// The variables to add; settings that the environment already passes to git are kept.
std::vector<std::pair<std::string, std::string>> quiet_git(const Environment& environment);

}  // namespace ralph
