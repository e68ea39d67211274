// The SHA-256 of a file of any size, in a fixed buffer.
#pragma once

#include <optional>
#include <string>

#include "base/sha256.h"

namespace ralph {

// Of a regular file; more can be added to the hash. nullopt: it is none, or can't be read. Symlinks are not followed.
std::optional<Sha256> hash_file(const std::string& path);

}  // namespace ralph
