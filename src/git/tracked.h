// Whether git tracks a file: then it may have come with a clone, and was not made here.
#pragma once

#include <string>

#include "os/environment.h"

namespace ralph {

// The index of the repository that `folder` is in, which changes with what is tracked; empty: there is no repository.
std::string index_file(const std::string& folder);

// Runs no program that the repository names. False also where git is missing or refuses the repository.
bool is_tracked(const std::string& folder, const std::string& file, const Environment& environment);

}  // namespace ralph
