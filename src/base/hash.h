// A hash that is the same in every version and on every machine (FNV-1a), for file names and comparisons. Not for
// secrets, nor if a collision would help an attacker.
#pragma once

#include <cstdint>
#include <string_view>

namespace ralph {

constexpr std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace ralph
