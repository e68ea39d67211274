// The state of a work tree as a short text, for comparison.
#pragma once

#include <string>

#include "os/environment.h"

namespace ralph {

// Empty if git fails. Slow: runs git.
std::string tree_fingerprint(const std::string& folder, const Environment& environment);

}  // namespace ralph
