// Any bytes as a bus: reading them in two parts must neither crash nor lose or invent messages compared to reading them
// at once.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "task/bus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ralph::BusText whole = ralph::parse_bus(text, true);
  if (whole.consumed != text.size() || whole.skipped > text.size()) std::abort();
  const ralph::BusText first = ralph::parse_bus(text.substr(0, size / 2), false);
  if (first.consumed > size / 2) std::abort();
  const ralph::BusText rest = ralph::parse_bus(text.substr(first.consumed), true);
  if (first.messages.size() + rest.messages.size() != whole.messages.size()) std::abort();
  return 0;
}
