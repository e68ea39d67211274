// Facts about a path, without following a symlink there: for files that are compared with their earlier state.
#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>

#include "base/result.h"

namespace ralph {

// Changes whenever the file is written: unlike the other times, ctime can't be set back.
std::string stamp_of_file(const struct stat& info);

// The content of a file, or the target of a symlink. nullopt if it is neither, or can't be read.
std::optional<std::string> content_of_file(const std::string& path, const struct stat& info);

// The SHA-256 of a file of any size. nullopt if it can't be read.
std::optional<std::string> hash_of_file(const std::string& path);

// Moves whatever is at `path` to `to`, or to the first free name of to.1, to.2, … A missing `path` is not an error.
Status move_away(const std::string& path, const std::string& to);

}  // namespace ralph
