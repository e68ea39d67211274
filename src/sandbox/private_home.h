// The home of a program in a sandbox, in place of the user's: a folder per project, kept between turns so that sessions
// can be resumed, with copies of what its agent needs to log in.
#pragma once

#include <string>

#include "base/result.h"

namespace ralph {

// Creates the folder if it is missing. Agents write there, so symlinks in it are never followed.
Status make_private_home(const std::string& folder);

// Copies `name`, a path below both homes, if it exists and is newer than the copy. "x/" is a folder: each file in it is
// copied, and files that exist only in the copy are kept. For a link that leads out of the folder, its target is
// copied.
Status copy_to_private_home(const std::string& home, const std::string& private_home, const std::string& name);

// "x/" -> "x".
std::string without_slash(std::string_view name);

}  // namespace ralph
