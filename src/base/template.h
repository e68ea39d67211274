// Templates with {{NAME}} placeholders.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ralph {

// Replaces every {{NAME}} that has a value. All other braces stay, because a template may quote code. A {{NAME}} inside
// a value is not expanded.
std::string render_template(std::string_view text, std::span<const std::pair<std::string_view, std::string>> values);

}  // namespace ralph
