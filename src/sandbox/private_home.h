// The home that a program in a sandbox has instead of yours: a folder per project, kept between turns so that sessions
// can be resumed, with copies of what its agent needs to log in.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ralph {

// Creates it if it is missing. Agents write there, so no symlink in it is followed.
Status make_private_home(const std::string& folder);

// Copies `name`, a path below both homes, if it is there and newer than the copy. "x/" is a folder: of each file in it,
// and what is only in the copy stays. A link that leads out of the folder is copied as what it leads to.
Status copy_to_private_home(const std::string& home, const std::string& private_home, const std::string& name);

// "x/" as a path: "x".
std::string without_slash(std::string_view name);

}  // namespace ralph
