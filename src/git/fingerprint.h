// What a work tree is like, as a short text to compare.
#pragma once

#include <string>

#include "os/environment.h"

namespace ralph {

// Empty if git can't say. Slow: it starts git.
std::string tree_fingerprint(const std::string& folder, const Environment& environment);

}  // namespace ralph
