// The keys of an agent's lines that ralph reads. Most of what agents print (lists of tools, statistics, copies of
// results) is skipped.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "json/view.h"

namespace ralph {

class Wanted;

struct WantedKey {
  std::string_view name;           // a literal; "*": every key that has no other entry
  const Wanted* inside = nullptr;  // the keys wanted inside it, or in each object of an array; nullptr: all
};

class Wanted {
 public:
  // At most 64. None: only the existence of containers is recorded.
  Wanted(std::initializer_list<WantedKey> keys) : Wanted("", keys) {}
  // `whole` names keys whose values are wanted completely, separated by spaces.
  Wanted(std::string_view whole, std::initializer_list<WantedKey> others);
  Wanted(const Wanted&) = delete;
  Wanted& operator=(const Wanted&) = delete;

  bool none() const { return keys_.empty(); }

  // For WantedKey::inside: containers are kept as source text, for the few lines in which they are needed.
  static const Wanted& later();

  // nullptr if the key is not wanted.
  const WantedKey* find(std::string_view key) const {
    for (size_t slot = slot_of(key);; ++slot) {
      const std::uint8_t entry = slots_[slot % kSlots];
      if (entry == 0) return any_;
      if (same_key(keys_[entry - 1U].name, key)) return &keys_[entry - 1U];
    }
  }

 private:
  static constexpr size_t kSlots = 512;

  // The length and two characters distinguish almost all of a few dozen keys.
  static size_t slot_of(std::string_view key) {
    if (key.empty()) return 0;
    const auto at = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(key[i])); };
    return key.size() * 37 + at(0) * 5 + at(key.size() - 1) * 67;
  }

  std::vector<WantedKey> keys_;
  const WantedKey* any_ = nullptr;
  std::array<std::uint8_t, kSlots> slots_{};  // 1 + index into keys_; 0: empty
};

}  // namespace ralph
