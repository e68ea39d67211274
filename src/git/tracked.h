// Whether git tracks a file: a tracked file may have come with a clone instead of being created here.
#pragma once

#include <string>

#include "os/environment.h"

namespace ralph {

// The index of the repository that `folder` is in. It changes whenever the tracked files do. Empty: there is no
// repository.
std::string index_file(const std::string& folder);

// Runs no program that the repository names. Also false if git is missing or refuses the repository.
bool is_tracked(const std::string& folder, const std::string& file, const Environment& environment);

}  // namespace ralph
