// The lock on git's index that a killed git leaves behind, and that makes every later git fail.
#pragma once

#include <optional>

#include "base/time.h"
#include "git/git.h"

namespace ralph {

// Its path, if it is not older than `since` and no process has it open.
Result<std::optional<std::string>> find_stale_index_lock(const Git& git, const std::string& folder, WallTime since);

// Removes it if it is not older than `since` and no process has it open. True: there was one.
Result<bool> remove_stale_index_lock(const Git& git, const std::string& folder, WallTime since);

}  // namespace ralph
