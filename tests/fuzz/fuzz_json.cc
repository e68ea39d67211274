// No text makes the JSON reader crash; any value it accepts is printed as text that it reads back as the same value.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/value.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// The library does not always read a fraction as the nearest double, so its text can change from one reading to the
// next.
bool has_fraction(const ralph::json::value& value) {
  if (value.is_array()) {
    for (const auto& item : value.get_array()) {
      if (has_fraction(item)) return true;
    }
  }
  if (value.is_object()) {
    for (const auto& member : value.get_object()) {
      if (has_fraction(member.value())) return true;
    }
  }
  return value.is_double();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = ralph::parse_json(text, "input");
  if (!value) {
    require(value.error().message.starts_with("input:"));
    return 0;
  }
  const std::string pretty = ralph::to_pretty_json(*value);
  const auto again = ralph::parse_json(pretty, "pretty");
  require(again.has_value());
  require(has_fraction(*value) || *again == *value);
  return 0;
}
