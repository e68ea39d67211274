// Text with places to fill in, written {{NAME}}.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ralph {

// Puts in the value of every {{NAME}} whose name is given. All other braces stay as they are, because a template may
// quote code. Values are taken as they are: a {{NAME}} inside one is not filled in, whoever wrote it.
std::string render_template(std::string_view text, std::span<const std::pair<std::string_view, std::string>> values);

}  // namespace ralph
