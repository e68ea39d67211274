#include "json/wanted.h"

#include <algorithm>
#include <cassert>

namespace ralph {

Wanted::Wanted(std::string_view whole, std::initializer_list<WantedKey> others) : keys_(others) {
  while (!whole.empty()) {
    const size_t end = std::min(whole.find(' '), whole.size());
    keys_.push_back({whole.substr(0, end)});
    whole.remove_prefix(std::min(end + 1, whole.size()));
  }
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
