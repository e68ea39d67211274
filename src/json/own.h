// JSON that is part of the program.
#pragma once

#include <string_view>

#include "json/value.h"

namespace ralph {

// Parses it without checking for the mistakes that people make. Its values are never freed. Throws if it is not JSON,
// which a test would have caught.
const json::value& parse_own_json(std::string_view text);

}  // namespace ralph
