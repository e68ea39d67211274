// What is at a path, without following a symlink: for files that are compared with how they were.
#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>

#include "base/result.h"

namespace ralph {

// Tells whether a file was written since: unlike the other times, ctime can't be set back.
std::string stamp_of_file(const struct stat& info);

// The content of a file, or the target of a symlink. nullopt: it is neither, or can't be read.
std::optional<std::string> content_of_file(const std::string& path, const struct stat& info);

// The SHA-256 of a file of any size. nullopt: it can't be read.
std::optional<std::string> hash_of_file(const std::string& path);

// Moves what is there to `to`, or to the first free one of to.1, to.2, … Nothing there is no error.
Status move_away(const std::string& path, const std::string& to);

}  // namespace ralph
