#include "base/template.h"

#include <algorithm>

namespace ralph {

std::string render_template(std::string_view text, std::span<const std::pair<std::string_view, std::string>> values) {
  constexpr std::string_view kOpen = "{{", kClose = "}}";
  std::string result;
  result.reserve(text.size());
  for (;;) {
    const size_t open = text.find(kOpen);
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    text.remove_prefix(open);

    const std::string_view inside = text.substr(kOpen.size());
    const auto known = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return inside.starts_with(value.first) && inside.substr(value.first.size()).starts_with(kClose);
    });
    if (known == values.end()) {
      result += text.front();  // only one brace: in "{{{NAME}}}" the placeholder starts at the second
      text.remove_prefix(1);
    } else {
      result += known->second;
      text.remove_prefix(kOpen.size() + known->first.size() + kClose.size());
    }
  }
}

}  // namespace ralph
