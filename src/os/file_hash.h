// The SHA-256 of a file of any size, using a fixed buffer.
#pragma once

#include <optional>
#include <string>

#include "base/sha256.h"

namespace ralph {

// The hash of a regular file; more can be added to it. nullopt: not a regular file, or unreadable. Symlinks are not
// followed.
std::optional<Sha256> hash_file(const std::string& path);

}  // namespace ralph
