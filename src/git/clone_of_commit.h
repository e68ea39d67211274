// A checkout of one commit in a new repository, for inspecting what was really committed.
#pragma once

#include <string>

#include "base/result.h"

namespace ralph {

// Clones the repository at `work_tree` into `target`, which must not exist, and checks out `commit`. Objects are
// transferred and verified; nothing is shared. The configuration is new: hooks, filters and attributes of the
// repository's own configuration are not copied. The user's configuration applies.
Status clone_commit(const std::string& work_tree, const std::string& commit, const std::string& target);

}  // namespace ralph
