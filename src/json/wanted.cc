#include "json/wanted.h"

#include <cassert>

namespace ralph {

Wanted::Wanted(std::initializer_list<WantedKey> keys) : keys_(keys) {
  assert(keys_.size() <= 64);
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i].name == "*") {
      any_ = &keys_[i];
      continue;
    }
    size_t slot = slot_of(keys_[i].name);
    while (slots_[slot % kSlots] != 0) ++slot;
    slots_[slot % kSlots] = static_cast<std::uint8_t>(i + 1);
  }
}

const Wanted& Wanted::later() {
  static const Wanted later{};
  return later;
}

}  // namespace ralph
